import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { PhoneRail, PhoneRows } from "@/components/data-table/phone-rows"
import { ProgressRail } from "@/components/rail/rail"
import { Time } from "@/components/values/time"
import type { Job } from "@/lib/api-types"
import { jobNameOf } from "../job-name"
import { hasEnded, progressOf } from "../progress"
import { JobDone } from "./job-done"
import { JobOutcome } from "./job-outcome"

/** For a phone: the whole name and the state, then what kind it is, how much is done and since when. */
export function JobRows({ jobs, onEnd }: { jobs: readonly Job[]; onEnd?: (() => void) | undefined }) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("nav.jobs")} rows={jobs.map((job) => ({ name: job.id, job }))} onEnd={onEnd}>
      {({ job }) => (
        <>
          <Link to="/jobs/$job" params={{ job: job.id }}>
            {jobNameOf(t, job)}
          </Link>
          <span>
            <JobOutcome job={job} />
          </span>
          <small>
            {t(`jobs.types.${job.type}`)} · <JobDone job={job} /> {job.dry_run && <Tag>{t("forecast.badge")}</Tag>}
          </small>
          <small>
            <Time at={job.created_at} />
          </small>
          {job.state !== "queued" && !hasEnded(job) && (
            <PhoneRail>
              <ProgressRail ratio={progressOf(job) ?? 0} />
            </PhoneRail>
          )}
        </>
      )}
    </PhoneRows>
  )
}
