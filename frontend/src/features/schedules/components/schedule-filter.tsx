import { Select } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useSchedules } from "../api/get-schedules"

interface ScheduleFilterProps {
  value: string | undefined
  onChange: (schedule: string | undefined) => void
}

/** Chooses one schedule by its name. One that was deleted stays as its id, so that it can be seen and taken back. */
export function ScheduleFilter({ value, onChange }: ScheduleFilterProps) {
  const { t } = useTranslation()
  const known = useSchedules().data ?? []
  const choices = known.map(({ id, name }) => ({ value: id, label: name }))
  const isGone = value !== undefined && !known.some(({ id }) => id === value)
  return (
    <Select
      clearable
      searchable
      label={t("jobPages.schedule")}
      placeholder={t("jobPages.anySchedule")}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      data={isGone ? [...choices, { value, label: value }] : choices}
    />
  )
}
