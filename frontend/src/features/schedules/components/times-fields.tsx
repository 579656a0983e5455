import { Group, SegmentedControl, Select, TextInput } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { useLanguage } from "@/hooks/use-format"
import type { ScheduleInput } from "@/lib/api-types"
import { detailIn } from "@/lib/reasons"
import { cronFaultIn } from "../cron-fault"
import type { RunsPreview } from "../use-runs-preview"
import { NextRuns } from "./next-runs"

export type Times = Required<Pick<ScheduleInput, "name" | "cron" | "zone" | "overlap" | "catch_up_ms" | "jitter_ms">>

const OVERLAPS = ["skip", "queue", "cancel_previous"] as const
const MINUTE_MS = 60_000
const SECOND_MS = 1_000
const CATCH_UP = { min: 1, max: 527_040 }
const JITTER = { min: 0, max: 3_600 }

/** Whether the server would take its numbers. */
export const isInBounds = ({ catch_up_ms: late, jitter_ms: jitter }: Times): boolean =>
  (late === null || isWithin(late / MINUTE_MS, CATCH_UP)) && isWithin(jitter / SECOND_MS, JITTER)

interface TimesFieldsProps {
  times: Times
  preview: RunsPreview
  /** What was refused, by field: as the server said it. */
  raw: Readonly<Record<string, string>>
  onChange: (times: Times) => void
}

/** When a schedule is due, and what becomes of a run that cannot start then. */
export function TimesFields({ times, preview, raw, onChange }: TimesFieldsProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")], [])
  const wrong = preview.error?.fields ?? {}
  const zoneFault = wrong.zone ?? raw.zone
  return (
    <>
      <Group gap={12} align="flex-start">
        <TextInput
          label={t("schedules.cron")}
          description={t("schedules.cronWords")}
          value={times.cron}
          error={times.cron.trim() === "" ? t("schedules.cronWrong") : cronFaultIn(t, language, wrong.cron ?? raw.cron)}
          onChange={(event) => onChange({ ...times, cron: event.currentTarget.value })}
          className={formClasses.code}
          w={220}
        />
        <Select
          searchable
          label={t("schedules.zone")}
          description={t("schedules.zoneWords")}
          data={zones}
          error={zoneFault && detailIn(t, language, zoneFault)}
          value={times.zone}
          onChange={(zone) => onChange({ ...times, zone: zone ?? "UTC" })}
          limit={60}
          w={220}
        />
      </Group>
      <NextRuns preview={preview} />
      <Field label={t("schedules.overlap")} description={t("schedules.overlapWords")}>
        <SegmentedControl
          mt={4}
          value={times.overlap}
          onChange={(overlap) => onChange({ ...times, overlap: overlap as Times["overlap"] })}
          data={OVERLAPS.map((value) => ({ value, label: t(`schedules.overlaps.${value}`) }))}
        />
      </Field>
      <Group gap={12} align="flex-start">
        <NumberField
          label={t("schedules.catchUp")}
          description={t("schedules.catchUpWords")}
          {...CATCH_UP}
          isOptional
          value={times.catch_up_ms === null ? undefined : times.catch_up_ms / MINUTE_MS}
          onChange={(minutes) => onChange({ ...times, catch_up_ms: minutes === undefined ? null : minutes * MINUTE_MS })}
          width={220}
        />
        <NumberField
          label={t("schedules.jitter")}
          description={t("schedules.jitterWords")}
          {...JITTER}
          value={times.jitter_ms / SECOND_MS}
          onChange={(seconds = Number.NaN) => onChange({ ...times, jitter_ms: seconds * SECOND_MS })}
          width={220}
        />
      </Group>
    </>
  )
}
