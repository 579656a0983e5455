import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Time } from "@/components/values/time"
import { usePhone } from "@/hooks/use-media"
import type { Schedule } from "@/lib/api-types"
import { ScheduleActions } from "./schedule-actions"
import { Enabled, JobWords, LastState, Next } from "./schedule-cells"
import { ScheduleRows } from "./schedule-rows"

const column = columnsFor<Schedule>()

export function SchedulesTable({ schedules }: { schedules: Schedule[] }) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const columns = useMemo(
    () => [
      column("enabled", "", { width: 44 }, (schedule) => <Enabled schedule={schedule} />),
      column("name", t("schedules.name"), { isName: true }, ({ name }) => name),
      column("type", t("schedules.job"), { isSecondary: true, minWidth: 620 }, ({ job }) => <JobWords job={job} />),
      column("cron", t("schedules.cron"), { minWidth: 480 }, ({ cron }) => <span className="mono">{cron}</span>),
      column("zone", t("schedules.zone"), { isSecondary: true, minWidth: 860 }, ({ zone }) => zone),
      column("next", t("schedules.next"), { align: "end" }, (schedule) => <Next schedule={schedule} />),
      column("last", t("schedules.last"), { align: "end", isSecondary: true, minWidth: 760 }, ({ last_run_at }) => <Time at={last_run_at} />),
      column("state", t("schedules.result"), { minWidth: 700 }, ({ last_state }) => <LastState state={last_state} />),
      column("overlap", t("schedules.overlap"), { isSecondary: true, minWidth: 1080 }, ({ overlap }) => t(`schedules.overlaps.${overlap}`)),
      column("menu", "", { width: 72 }, (schedule) => <ScheduleActions schedule={schedule} />),
    ],
    [t],
  )
  if (isPhone) return <ScheduleRows schedules={schedules} />
  return <DataTable natural label={t("nav.schedules")} columns={columns} rows={schedules} rowId={({ id }) => id} />
}
