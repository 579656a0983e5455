import type { Job } from "@/lib/api-types"

/** Whether it waits for a worker or runs; a paused job does neither. */
export const isActive = ({ state }: Job): boolean => state === "queued" || state === "running"

export const hasEnded = (job: Job): boolean => !isActive(job) && job.state !== "paused"

/** What counts as done: the messages that were looked at, of those that the job will look at; null while nobody knows. */
export const doneOf = ({ counters }: Job): number | null => counters.read

/** How much it will be; null while it is not counted yet. */
export const plannedOf = ({ counters }: Job): number | null => counters.planned || null

/** How far a job is, between 0 and 1; null while that is not known. */
export function progressOf(job: Job): number | null {
  if (job.state === "succeeded") return 1
  if (job.state === "queued") return 0
  const planned = plannedOf(job)
  const done = doneOf(job)
  return planned === null || done === null ? null : Math.min(1, done / planned)
}

const PASSED: ReadonlySet<Job["state_code"]> = new Set(["some_failed", "some_damaged", "none_written"] as const)

/** Whether a replay has read its range to the end, so that running it again would leave out the same messages. */
export function hasPassedAll({ type, state, state_code: code, request }: Job): boolean {
  const { target } = request as { target?: { kind?: string } }
  return type === "replay" && target?.kind !== "parquet" && (state === "partial" || state === "failed") && PASSED.has(code)
}

/** How long it worked in all its runs, without pauses and waits; null while it has not worked. */
export function tookMs({ state, started_at: started, worked_ms: worked }: Job, now: number): number | null {
  if (state === "running" && started) return worked + Math.max(0, now - Date.parse(started))
  return worked || null
}
