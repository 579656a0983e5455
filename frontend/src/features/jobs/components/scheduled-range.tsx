import { Group, Select, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NumberField } from "@/components/forms/number-field"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { beforeRun, type BoundKind, boundOf, kindOf, LONGEST, NO_MOMENT, type Span, spanOf, UNITS } from "../bounds"
import { type Fault, faultsOf } from "../request"
import { useRefused } from "@/components/wizard/refusals"
import { boundNames, type RangeProps } from "./request-fields"

const PRESETS = { "1h": { amount: 1, unit: "h" }, "24h": { amount: 24, unit: "h" }, "7d": { amount: 7, unit: "d" } } as const satisfies Record<string, Span>

type Choice = BoundKind | keyof typeof PRESETS

const FROM: readonly Choice[] = ["open", "last_success", "scheduled_at", "1h", "24h", "7d", "before", "fixed"]
const TO: readonly Choice[] = ["open", "scheduled_at", "1h", "24h", "7d", "before", "fixed"]

const isPreset = (choice: string): choice is keyof typeof PRESETS => choice in PRESETS

/** The range of a job that runs again and again: counted from its runs, or between moments that stay. */
export function ScheduledRange({ path, state, onChange }: RangeProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const faults = faultsOf(state)
  const [from, to] = boundNames(path)
  return (
    <Group gap={12} align="flex-start">
      <Bound name="from" label={t("messages.from")} choices={FROM} value={state[from]} fault={faults[from]} refused={refused(`${path}.from`)} onChange={(next) => onChange({ [from]: next })} />
      <Bound name="to" label={t("messages.to")} choices={TO} value={state[to]} fault={faults[to]} refused={refused(`${path}.to`)} onChange={(next) => onChange({ [to]: next })} />
    </Group>
  )
}

interface BoundProps {
  name: "from" | "to"
  label: string
  choices: readonly Choice[]
  value: string | undefined
  fault: Fault | undefined
  refused: string | undefined
  onChange: (bound: string | undefined) => void
}

function Bound({ name, label, choices, value, fault, refused, onChange }: BoundProps) {
  const { t } = useTranslation()
  const [choice, setChoice] = useState<Choice>(() => choiceOf(value))
  const choose = (next: Choice) => {
    setChoice(next)
    onChange(isPreset(next) ? beforeRun(PRESETS[next]) : boundOf(next))
  }
  const labelOf = (known: Choice) => {
    if (isPreset(known)) return t(`jobs.before.${PRESETS[known].unit}`, { count: PRESETS[known].amount })
    return known === "open" ? t(`jobs.bounds.${name}`) : t(`jobs.bounds.${known}`)
  }
  return (
    <Stack gap={6}>
      <Select
        label={label}
        data={choices.map((known) => ({ value: known, label: labelOf(known) }))}
        value={choice}
        error={fault === "reversed" ? t("jobs.faults.reversed") : refused}
        onChange={(next) => choose(next as Choice)}
        allowDeselect={false}
        w={230}
      />
      {choice === "before" && <SpanInput span={spanOf(value) ?? PRESETS["1h"]} onChange={(span) => onChange(beforeRun(span))} />}
      {choice === "fixed" && (
        <WallClockInput
          label={t("jobs.moment")}
          value={value === NO_MOMENT ? undefined : value}
          error={fault === "moment" ? t("messages.noTime") : null}
          onChange={(moment) => onChange(moment ?? NO_MOMENT)}
        />
      )}
    </Stack>
  )
}

function choiceOf(bound: string | undefined): Choice {
  const span = spanOf(bound)
  const preset = span && `${span.amount}${span.unit}`
  return preset && isPreset(preset) ? preset : kindOf(bound)
}

/** A span of one's own, as long as the server takes it. */
function SpanInput({ span, onChange }: { span: Span; onChange: (span: Span) => void }) {
  const { t } = useTranslation()
  return (
    <Group gap={6} align="flex-start" wrap="nowrap">
      <NumberField
        label={t("jobs.before.amount")}
        min={1}
        max={LONGEST[span.unit]}
        value={span.amount}
        onChange={(amount = Number.NaN) => onChange({ ...span, amount })}
        width={90}
      />
      <Select
        label={t("jobs.before.unit")}
        data={UNITS.map((unit) => ({ value: unit, label: t(`jobs.before.units.${unit}`) }))}
        value={span.unit}
        onChange={(unit) => onChange({ ...span, unit: unit as Span["unit"] })}
        allowDeselect={false}
        w={134}
      />
    </Group>
  )
}
