import { IconRefreshAlert } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { JobState } from "@/components/badges/job-state"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { differencesOf, type Report } from "../report"

/** The state of a job; of a comparison that went well and found differences, how many. */
export function JobOutcome({ job }: { job: Job }) {
  const { t } = useTranslation()
  const { tiles } = (job.result ?? {}) as Pick<Report, "tiles">
  const differences = job.type === "reconcile" && job.state === "succeeded" && tiles ? differencesOf({ tiles }) : 0
  if (differences === 0) return <JobState state={job.state} />
  return (
    <Badge tone="warn" icon={IconRefreshAlert}>
      {t("reconcile.differences", { count: differences, n: count(differences) })}
    </Badge>
  )
}
