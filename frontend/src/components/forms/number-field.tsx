import { NumberInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { count } from "@/lib/format"

export interface NumberRange {
  min: number
  max?: number
}

/** Whether it is a whole number of the range; an empty field (NaN) is none. */
export const isWithin = (value: number, { min, max = Number.MAX_SAFE_INTEGER }: NumberRange): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max

interface NumberFieldProps extends NumberRange {
  label: string
  description?: string
  /** NaN for what is no number; undefined where an empty field has a meaning of its own. */
  value: number | undefined
  error?: string | null | undefined
  isOptional?: boolean
  width?: number | string
  onChange: (value: number | undefined) => void
}

/** A whole number. It is never changed into one that fits: out of range it stays as typed, and the field says so. */
export function NumberField({ label, description, value, error, isOptional = false, width = 200, onChange, ...range }: NumberFieldProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState<number | string>(value ?? "")
  const isEmpty = value === undefined && isOptional
  const isWrong = !isEmpty && !isWithin(value ?? Number.NaN, range)
  const words = range.max === undefined ? t("forms.wholeFrom", { min: count(range.min) }) : t("forms.wholeBetween", { min: count(range.min), max: count(range.max) })
  const read = (next: number | string): number | undefined => (next === "" && isOptional ? undefined : typeof next === "number" ? next : Number.NaN)
  return (
    <NumberInput
      label={label}
      description={description}
      {...range}
      clampBehavior="none"
      allowDecimal={false}
      thousandSeparator=","
      value={Object.is(read(typed), value) ? typed : Number.isNaN(value ?? Number.NaN) ? "" : value}
      error={error ?? (isWrong ? words : null)}
      onChange={(next) => {
        setTyped(next)
        onChange(read(next))
      }}
      w={width}
    />
  )
}
