import { Group, SegmentedControl, Stack } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { NamePicker } from "@/components/forms/name-picker"
import { NumberField } from "@/components/forms/number-field"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import { MODES, modeOf, numberOf } from "../wish"

interface WishFieldsProps {
  topic: string | undefined
  topics: string[]
  groups: string[]
}

/** Which topic, and where to; all of it is in the address. */
export function WishFields({ topic, topics, groups }: WishFieldsProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const mode = modeOf(state)
  return (
    <Stack gap={14} p={14}>
      <NamePicker label={t("offsets.topic")} names={topics} value={topic} onChange={(next) => change({ topic: next })} maw={360} />
      <Group gap={14} align="flex-start">
        <Field label={t("offsets.whereTo")}>
          <SegmentedControl
            data-even
            aria-label={t("offsets.whereTo")}
            value={mode}
            onChange={(next) => change({ mode: next === "time" ? undefined : next })}
            data={MODES.map((value) => ({ value, label: t(`offsets.modes.${value}`) }))}
          />
        </Field>
        <ValueField groups={groups} state={state} change={change} />
      </Group>
    </Stack>
  )
}

interface ValueFieldProps {
  groups: string[]
  state: UrlState
  change: (patch: UrlState) => void
}

const written = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? undefined : String(value))

function ValueField({ groups, state, change }: ValueFieldProps) {
  const { t } = useTranslation()
  const numberIn = (text: string | undefined) => numberOf(text) ?? undefined
  switch (modeOf(state)) {
    case "time":
      return <WallClockInput label={t("offsets.time")} value={state.at} onChange={(at) => change({ at })} />
    case "offset":
      return <NumberField isOptional label={t("offsets.offset")} min={0} value={numberIn(state.offset)} onChange={(offset) => change({ offset: written(offset) })} />
    case "shift":
      return (
        <NumberField
          isOptional
          label={t("offsets.shift")}
          min={-Number.MAX_SAFE_INTEGER}
          value={numberIn(state.shift)}
          onChange={(shift) => change({ shift: written(shift) })}
        />
      )
    case "copy_from":
      return <NamePicker label={t("offsets.source")} names={groups} value={state.source} onChange={(source) => change({ source })} w={260} />
    default:
      return null
  }
}
