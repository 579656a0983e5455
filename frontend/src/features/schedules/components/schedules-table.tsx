import { ActionIcon, Group, Menu, Switch, Tooltip } from "@mantine/core"
import { IconDots, IconPlayerPlay } from "@tabler/icons-react"
import { type ReactNode, useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { JobState } from "@/components/badges/job-state"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { NotApplicable } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job, Schedule } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { useDeleteSchedule } from "../api/delete-schedule"
import { useRunNow } from "../api/run-schedule"
import { useEnableSchedule } from "../api/update-schedule"

const column = columnsFor<Schedule>()
const STATES = ["queued", "running", "paused", "succeeded", "partial", "failed", "cancelled"] as const

export function SchedulesTable({ schedules }: { schedules: Schedule[] }) {
  const { t } = useTranslation()
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
  return <DataTable natural label={t("nav.schedules")} columns={columns} rows={schedules} rowId={({ id }) => id} />
}

function Enabled({ schedule }: { schedule: Schedule }) {
  const { t } = useTranslation()
  const enable = useEnableSchedule(schedule.id)
  return (
    <NeedsRight right="jobs">
      <Switch
        checked={enable.isPending ? enable.variables : schedule.enabled}
        aria-label={t("schedules.enable", { name: schedule.name })}
        onChange={(event) =>
          enable.mutate(event.currentTarget.checked, { onError: (error) => toastFailed(t("schedules.notChanged", { name: schedule.name }), error) })
        }
      />
    </NeedsRight>
  )
}

function JobWords({ job }: { job: Schedule["job"] }) {
  const { t } = useTranslation()
  const { type } = job as { type?: Job["type"] }
  return <>{type ? t(`jobs.types.${type}`) : "—"}</>
}

function Next({ schedule }: { schedule: Schedule }): ReactNode {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow(10_000)
  if (!schedule.enabled && schedule.stopped_reason)
    return (
      <Tooltip label={reasonIn(t, schedule.stopped_reason)}>
        <span className="micro" tabIndex={0}>
          {t("schedules.stoppedWith")}
        </span>
      </Tooltip>
    )
  if (!schedule.enabled) return <span className="micro">{t("schedules.off")}</span>
  if (!schedule.next_run_at) return <NotApplicable />
  const left = Date.parse(schedule.next_run_at) - now
  return (
    <Tooltip label={schedule.next_runs.map((at) => format.when(at)).join("\n")}>
      <span>
        <Time at={schedule.next_run_at} /> {left > 0 && <span className="micro onlyWide">{t("schedules.in", { time: format.duration(left) })}</span>}
      </span>
    </Tooltip>
  )
}

function LastState({ state }: { state: string | null }) {
  const known = STATES.find((name) => name === state)
  return known ? <JobState state={known} /> : <NotApplicable />
}

function ScheduleActions({ schedule: { id, name, enabled } }: { schedule: Schedule }) {
  const { t } = useTranslation()
  const run = useRunNow(id)
  const remove = useDeleteSchedule(id)
  const [isDeleting, setDeleting] = useState(false)
  const [, change] = useUrlState()
  const show = (drawer: "edit" | "runs" | "pause") => change({ new: undefined, edit: undefined, runs: undefined, pause: undefined, [drawer]: id })
  return (
    <Group component="span" display="inline-flex" gap={2} wrap="nowrap">
      <Tooltip label={t("schedules.runNow")}>
        <span>
          <NeedsRight right="jobs">
            <ActionIcon
              size={24}
              aria-label={t("schedules.runNow")}
              loading={run.isPending}
              onClick={() =>
                run.mutate(undefined, {
                  onSuccess: () => toastDone(t("schedules.ran", { name })),
                  onError: (error) => toastFailed(t("schedules.notRun", { name }), error),
                })
              }
            >
              <IconPlayerPlay size={15} stroke={1.6} />
            </ActionIcon>
          </NeedsRight>
        </span>
      </Tooltip>
      <Menu>
        <Menu.Target>
          <ActionIcon size={24} aria-label={t("actions.more")}>
            <IconDots size={15} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => show("runs")}>{t("schedules.runs")}</Menu.Item>
          <NeedsRight right="jobs">
            <Menu.Item onClick={() => show("edit")}>{t("schedules.edit")}</Menu.Item>
          </NeedsRight>
          {enabled && (
            <NeedsRight right="jobs">
              <Menu.Item onClick={() => show("pause")}>{t("schedules.pauseTitle")}</Menu.Item>
            </NeedsRight>
          )}
          <NeedsRight right="jobs">
            <Menu.Item color="var(--crit)" onClick={() => setDeleting(true)}>
              {t("schedules.delete")}
            </Menu.Item>
          </NeedsRight>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDanger
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={t("schedules.deleteTitle", { name })}
        name={name}
        action={t("schedules.delete")}
        isBusy={remove.isPending}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () => toastDone(t("schedules.deleted", { name })),
            onError: (error) => toastFailed(t("schedules.notDeleted", { name }), error),
          })
        }
      >
        <p>{t("schedules.deleteWords")}</p>
      </ConfirmDanger>
    </Group>
  )
}
