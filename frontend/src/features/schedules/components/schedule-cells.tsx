import { Switch, Tooltip } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { JobState } from "@/components/badges/job-state"
import { NeedsRight } from "@/components/forms/lock"
import { toastFailed } from "@/components/toast/toast"
import { NotApplicable } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { Job, Schedule } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import { useEnableSchedule } from "../api/update-schedule"

const STATES = ["queued", "running", "paused", "succeeded", "partial", "failed", "cancelled"] as const

export function Enabled({ schedule }: { schedule: Schedule }) {
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

export function JobWords({ job }: { job: Schedule["job"] }) {
  const { t } = useTranslation()
  const { type, dry_run: isDry } = job as { type?: Job["type"]; dry_run?: boolean }
  return (
    <>
      {type ? t(`jobs.types.${type}`) : "—"} {isDry && <Tag>{t("forecast.badge")}</Tag>}
    </>
  )
}

export function Next({ schedule }: { schedule: Schedule }): ReactNode {
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

export function LastState({ state }: { state: string | null }) {
  const known = STATES.find((name) => name === state)
  return known ? <JobState state={known} /> : <NotApplicable />
}
