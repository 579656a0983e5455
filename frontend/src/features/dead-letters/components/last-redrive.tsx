import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { JobState } from "@/components/badges/job-state"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { groupOf } from "../api/get-redrives"
import { Outcomes } from "./outcomes"

/** What the last decision did. */
export function LastRedrive({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const note = (
    <Link to="/jobs/$job" params={{ job: job.id }}>
      {t("deadLetters.lastFacts", { group: groupOf(job), time: format.when(job.created_at), by: job.created_by })}
    </Link>
  )
  return (
    <Outcomes job={job} title={t("deadLetters.lastRedrive")} note={note}>
      <JobState state={job.state} />
    </Outcomes>
  )
}
