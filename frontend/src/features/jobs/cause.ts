import type { TFunction } from "i18next"
import type { Job, JobStateCode } from "@/lib/api-types"
import { sentenceIn } from "@/lib/reasons"

/** Why a job is not done, and what to do about it. */
export interface Cause {
  /** Null for what an earlier release ended: then only the sentence of the server is known. */
  title: string | null
  next: string
  detail: string
}

/** Where a later run helps, once what was wrong has been put right. */
const WORTH_A_RETRY: ReadonlySet<JobStateCode> = new Set<JobStateCode>([
  ...(["no_java", "broker_unreachable", "store_unreadable", "not_sent", "program_killed"] as const),
  ...(["program_failed", "launcher_failed", "worker_lost", "time_limit", "disk_full", "cancelled"] as const),
])

const RETRIED = /^attempt \d+ of \d+, starts at \S+; the last one ended because (?<reason>.+)$/

/** In the language of the reader; null for a job without a reason. */
export function causeOf(t: TFunction, language: string, job: Job): Cause | null {
  const { state, state_code: code, state_reason: reason } = job
  if (reason === null && code === null) return null
  // When the next attempt starts is told beside its progress.
  const sentence = RETRIED.exec(reason ?? "")?.groups?.reason ?? reason ?? ""
  const detail = sentence && sentenceIn(t, language, sentence)
  if (code === null) return { title: null, next: "", detail }
  const title = t(`jobCauses.titles.${code}`)
  return {
    title: state === "queued" ? t("jobCauses.lastTry", { title }) : title,
    next: [t(`jobCauses.next.${code}`), againOf(t, job, code)].filter(Boolean).join(language === "zh" ? "" : " "),
    detail,
  }
}

/** What a later run does, where a user may ask for one. */
function againOf(t: TFunction, job: Job, code: JobStateCode): string {
  const isOffered = job.state !== "queued" && job.files_removed_at === null && !job.dry_run && WORTH_A_RETRY.has(code)
  return isOffered ? t(isResumed(job) ? "jobCauses.goesOn" : "jobCauses.beginsAnew") : ""
}

/** Whether a later run goes on at the checkpoints of the one before. */
function isResumed({ type, request }: Job): boolean {
  const { target } = request as { target?: { kind?: string } }
  return type === "redrive" || (type === "replay" && target?.kind !== "parquet")
}
