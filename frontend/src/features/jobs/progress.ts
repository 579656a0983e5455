import type { Job } from "@/lib/api-types"

/** Whether it waits for a worker or runs; a paused job does neither. */
export const isActive = ({ state }: Job): boolean => state === "queued" || state === "running"

export const hasEnded = (job: Job): boolean => !isActive(job) && job.state !== "paused"

/** What counts as done: written for a replay, read for a reconciliation, sent now or before for a redrive. */
export function doneOf({ type, counters }: Job): number {
  if (type === "reconcile") return counters.read
  return type === "replay" ? counters.written : counters.written + counters.skipped
}

/** How much it will be; null while it is not counted yet. */
export const plannedOf = ({ counters }: Job): number | null => counters.planned || null

/** How far a job is, between 0 and 1; null while that is not known. */
export function progressOf(job: Job): number | null {
  const { state, type, counters } = job
  if (state === "succeeded") return 1
  if (state === "queued") return 0
  const planned = plannedOf(job)
  if (planned === null) return null
  // What the filter leaves out is not planned.
  const passed = type === "reconcile" ? 0 : counters.failed
  return Math.min(1, (doneOf(job) + passed) / planned)
}

/** How long it ran, or has been running. */
export function tookMs({ started_at: started, finished_at: finished }: Job, now: number): number | null {
  if (!started) return null
  return Math.max(0, (finished ? Date.parse(finished) : now) - Date.parse(started))
}
