import type { Job, JobWorkers } from "@/lib/api-types"

export const runningOf = ({ items }: JobWorkers): number => items.reduce((sum, { runs, hidden_runs: hidden }) => sum + runs.length + hidden, 0)

/** How many workers live; null where nobody knows. */
export const aliveOf = ({ items, are_known: areKnown }: JobWorkers): number | null => (areKnown ? items.filter(({ is_alive: alive }) => alive).length : null)

/** Why a job that is queued has not begun. */
export interface Waiting { why: "noWorker" | "unknown" | "full" | "next" | "retry" | "scheduleRun" | "share"; place: number | null; all: number; atOnce: number }

/** Why a queued job waits, and at which place; null while the workers are not known yet. */
export function waitingOf(job: Job, workers: JobWorkers | undefined): Waiting | null {
  if (workers === undefined || job.state !== "queued") return null
  const { waiting, at_once: atOnce } = workers
  const index = waiting.indexOf(job.id)
  return { why: whyOf(job, workers), place: index < 0 ? null : index + 1, all: waiting.length, atOnce }
}

function whyOf(job: Job, workers: JobWorkers): Waiting["why"] {
  const alive = aliveOf(workers)
  if (alive === 0) return "noWorker"
  if (job.next_try_at) return "retry"
  const held = workers.held.find(({ job_id: id }) => id === job.id)?.by
  if (held === "schedule_run") return "scheduleRun"
  if (held === "share") return "share"
  if (runningOf(workers) >= workers.at_once) return "full"
  return alive === null ? "unknown" : "next"
}
