import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job, JobRequest, MissingRequest } from "@/lib/api-types"
import { asProblem, type Problem } from "@/lib/problem"
import { useCreateJob } from "./api/create-job"
import { useJob } from "./api/get-job"
import { useJobReport } from "./api/get-job-report"
import { hasEnded } from "./progress"
import type { Forecast } from "./report"

export interface DryRun {
  /** What the dry run found; absent while it runs, after it failed, and for another request than the one that is asked. */
  forecast: Forecast | undefined
  /** The job that counts, or counted; absent until the server has told of it. */
  job: Job | undefined
  isRunning: boolean
  /** Whether there is one, of a request that was changed since. */
  isOld: boolean
  /** Why it could not be started, and what was asked for then. */
  refused: Problem | null
  sent: JobRequest | MissingRequest | undefined
  start: () => void
}

/** Nobody is told of the end of a dry run: whoever started it looks at it. */
const untold = (request: JobRequest | MissingRequest): JobRequest | MissingRequest => ("notify" in request ? { ...request, notify: undefined } : request)

/** A dry run of a request to an address of the API. The address of the page names it, so that a reload shows the same one. */
export function useDryRun(request: JobRequest | MissingRequest, path: string = paths.jobs): DryRun {
  const [state, change] = useUrlState()
  const create = useCreateJob(path)
  const [id, of] = state.dry?.split(".") ?? []
  const mark = markOf(request)
  const job = useJob(id).data
  const isOld = id !== undefined && of !== mark
  const report = useJobReport(isOld || job?.state !== "succeeded" ? undefined : job)
  return {
    forecast: isOld ? undefined : (report.data as unknown as Forecast | undefined),
    job: isOld || create.isPending ? undefined : job,
    isRunning: create.isPending || (!isOld && (job ? !hasEnded(job) || report.isFetching : id !== undefined)),
    isOld,
    refused: create.error ? asProblem(create.error) : null,
    sent: create.variables,
    start: () => create.mutate({ ...untold(request), dry_run: true }, { onSuccess: (made) => change({ dry: `${made.id}.${mark}` }) }),
  }
}

/** Tells requests apart. Neither a name nor who is told changes anything about what a job does, and a dry run is always allowed. */
function markOf(request: JobRequest | MissingRequest): string {
  let hash = 5381
  for (const sign of JSON.stringify({ ...request, name: undefined, notify: undefined, allow_live_target: undefined })) hash = (Math.imul(hash, 33) ^ (sign.codePointAt(0) ?? 0)) >>> 0
  return hash.toString(36)
}
