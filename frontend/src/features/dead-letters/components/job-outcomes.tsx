import { useTranslation } from "react-i18next"
import type { Job } from "@/lib/api-types"
import { Outcomes } from "./outcomes"

/** What a redrive did, on the page of its job; nothing before its first run. */
export function JobOutcomes({ job }: { job: Job }) {
  const { t } = useTranslation()
  return job.type === "redrive" && job.attempt > 0 ? <Outcomes job={job} title={t("deadLetters.jobOutcomes")} /> : null
}
