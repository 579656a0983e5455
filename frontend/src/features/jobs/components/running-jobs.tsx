import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { ProgressRail } from "@/components/rail/rail"
import type { Job } from "@/lib/api-types"
import { compact } from "@/lib/format"
import { useRunningJobs } from "../api/get-jobs"
import { jobNameOf } from "../job-name"
import { doneOf, plannedOf, progressOf } from "../progress"
import classes from "./jobs.module.css"

/** The work that is running now, one rail each. */
export function RunningJobs() {
  const { t } = useTranslation()
  const { data: jobs = [] } = useRunningJobs()
  return (
    <Panel title={t("jobs.running")} note={jobs.length > 0 ? jobs.length : undefined}>
      {jobs.map((job) => (
        <RunningJob key={job.id} job={job} />
      ))}
      {jobs.length === 0 && <p className={classes.none}>{t("jobs.noneRunning")}</p>}
    </Panel>
  )
}

function RunningJob({ job }: { job: Job }) {
  const { t } = useTranslation()
  const ratio = progressOf(job)
  const [done, planned] = [doneOf(job), plannedOf(job)]
  return (
    <Link to="/jobs/$job" params={{ job: job.id }} className={classes.running}>
      <span className="truncate">{jobNameOf(t, job)}</span>
      <b>{ratio === null ? "" : `${Math.floor(ratio * 100)} %`}</b>
      <div className={classes.rail}>
        <ProgressRail ratio={ratio} />
      </div>
      <small>{`${done === null ? "—" : compact(done)}${planned === null ? "" : ` / ${compact(planned)}`}`}</small>
      <small data-end>{job.rate === null ? "" : `${compact(Math.round(job.rate))}/s`}</small>
    </Link>
  )
}
