import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { JobState } from "@/components/badges/job-state"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { Time } from "@/components/values/time"
import type { Schedule, ScheduleRun } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useScheduleRuns } from "../api/get-schedule-runs"

const column = columnsFor<ScheduleRun>()

/** What became of each time of a schedule: the job that it started, or why it started none. */
export function ScheduleRuns({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useTranslation()
  const runs = useScheduleRuns(schedule.id)
  const columns = useMemo(
    () => [
      column("due", t("schedules.due"), { isName: true }, (run) => <Due run={run} />),
      column("outcome", t("schedules.outcome"), {}, ({ outcome, job }) => (outcome === "started" && job ? <JobState state={job.state} /> : t(`schedules.outcomes.${outcome}`))),
      column("why", t("schedules.why"), { isSecondary: true }, ({ reason }) => (reason ? t(`schedules.reasons.${reason}`) : <NotApplicable />)),
      column("job", t("schedules.job"), { align: "end" }, ({ job, job_id: id }) =>
        job && id ? (
          <Link to="/jobs/$job" params={{ job: id }} search={{}}>
            {t("schedules.toJob")}
          </Link>
        ) : (
          <NotApplicable />
        ),
      ),
    ],
    [t],
  )
  return (
    <DockedDrawer label={t("schedules.runsOf", { name: schedule.name })} onClose={onClose}>
      <Panel
        title={t("schedules.runsOf", { name: schedule.name })}
        actions={
          <Link to="/jobs" search={{ schedule: schedule.id }}>
            {t("jobPages.ofSchedule")}
          </Link>
        }
      >
        <QueryBody query={runs} what={t("schedules.runsFailed")} isEmpty={({ items }) => items.length === 0} empty={<Empty small title={t("schedules.noRuns")} />}>
          {({ items }) => <DataTable natural label={t("schedules.runs")} columns={columns} rows={items} rowId={({ id }) => id} />}
        </QueryBody>
      </Panel>
    </DockedDrawer>
  )
}

/** The time that was due; by hand there is none, and a row may stand for several. */
function Due({ run: { scheduled_for: last, created_at: created, times } }: { run: ScheduleRun }) {
  const { t } = useTranslation()
  if (!last)
    return (
      <>
        <Time at={created} /> <span className="micro">{t("schedules.byHand")}</span>
      </>
    )
  return (
    <>
      <Time at={last} /> {times > 1 && <span className="micro">{t("schedules.times", { count: times, n: count(times) })}</span>}
    </>
  )
}
