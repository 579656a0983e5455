import { NotApplicable } from "@/components/values/num"
import type { Job } from "@/lib/api-types"
import { compact } from "@/lib/format"
import { doneOf, plannedOf } from "../progress"

/** How much of it is done. */
export function JobDone({ job }: { job: Job }) {
  const [done, planned] = [doneOf(job), plannedOf(job)]
  if (job.state === "queued") return <NotApplicable />
  // It counts, and does nothing of it.
  if (job.dry_run) return planned === null ? <NotApplicable /> : <>{compact(planned)}</>
  const shown = done === null ? "—" : compact(done)
  return <>{planned === null ? shown : `${shown} / ${compact(planned)}`}</>
}
