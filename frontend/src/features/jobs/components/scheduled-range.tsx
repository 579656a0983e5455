import { Group, Select, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { type BoundKind, boundOf, kindOf } from "../bounds"
import type { FieldsProps } from "./request-fields"

const FROM = ["open", "last_success", "scheduled_at", "fixed"] as const
const TO = ["open", "scheduled_at", "fixed"] as const

/** The range of a job that runs again and again: counted from its runs, or between moments that stay. */
export function ScheduledRange({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  return (
    <Group gap={12} align="flex-start">
      <Bound name="from" label={t("messages.from")} kinds={FROM} value={state.from} onChange={(from) => onChange({ from })} />
      <Bound name="to" label={t("messages.to")} kinds={TO} value={state.to} onChange={(to) => onChange({ to })} />
    </Group>
  )
}

interface BoundProps {
  name: "from" | "to"
  label: string
  kinds: readonly BoundKind[]
  value: string | undefined
  onChange: (bound: string | undefined) => void
}

function Bound({ name, label, kinds, value, onChange }: BoundProps) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<BoundKind>(kindOf(value))
  const choose = (next: BoundKind) => {
    setKind(next)
    onChange(boundOf(next))
  }
  return (
    <Stack gap={6}>
      <Select
        label={label}
        data={kinds.map((known) => ({ value: known, label: known === "open" ? t(`jobs.bounds.${name}`) : t(`jobs.bounds.${known}`) }))}
        value={kind}
        onChange={(next) => choose(next as BoundKind)}
        w={230}
      />
      {kind === "fixed" && <WallClockInput label={t("jobs.moment")} value={value} onChange={onChange} />}
    </Stack>
  )
}
