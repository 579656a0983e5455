import type { ReactNode } from "react"
import type { UrlState } from "@/hooks/use-url-state"
import type { JobRequest, ScheduleInput } from "@/lib/api-types"
import { asProblem } from "@/lib/problem"

interface Refusal {
  sent: object
  fields: Readonly<Record<string, string>>
}

/** The job of the address, by the feature that knows jobs. */
export interface ScheduledJob {
  /** The fields of the job; they show what was refused of it, by path. */
  jobFields: (refused: Refusal) => ReactNode
  job: JobRequest
  isJobWhole: boolean
  jobName: string
}

/** How the feature that knows jobs edits one that a schedule has. */
export interface JobForm {
  /** Renders with the job that the address describes. */
  render: (use: (job: ScheduledJob) => ReactNode) => ReactNode
  /** The words of the address for a stored job, and the fields that the form could not send back as they are. */
  formOf: (job: JobRequest) => { state: UrlState; lost: string[] }
  /** Whether two jobs are asked for something else. */
  isOther: (one: JobRequest, other: JobRequest) => boolean
}

const JOB = "job."

/** What was refused of the job, by the path inside it. */
export function refusalOf({ error, variables }: { error: Error | null; variables: Partial<ScheduleInput> | undefined }): Refusal {
  const fields = error ? asProblem(error).fields : {}
  return {
    sent: variables?.job ?? {},
    fields: Object.fromEntries(Object.entries(fields).flatMap(([path, why]) => (path.startsWith(JOB) ? [[path.slice(JOB.length), why]] : []))),
  }
}

/** What an address says of every page. */
const STAYS: ReadonlySet<string> = new Set(["cluster", "zone"])

/** The change of an address that takes all of a form out of it. */
export const cleared = (state: UrlState): UrlState => Object.fromEntries(Object.keys(state).flatMap((name) => (STAYS.has(name) ? [] : [[name, undefined]])))
