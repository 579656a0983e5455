import { SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useUrlState } from "@/hooks/use-url-state"
import type { Range } from "@/lib/api-types"
import { RANGES } from "@/lib/ranges"

interface RangePickerProps {
  value: Range
  fallback: Range
  /** Those to choose from; all by default. */
  ranges?: readonly Range[]
  small?: boolean
}

/** How far back the charts look; part of the address. */
export function RangePicker({ value, fallback, ranges = RANGES, small = false }: RangePickerProps) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  return (
    <SegmentedControl
      size={small ? "xs" : "sm"}
      data-size={small ? "xs" : undefined}
      aria-label={t("ranges.label")}
      value={value}
      onChange={(range) => change({ range: range === fallback ? undefined : range })}
      data={ranges.map((range) => ({ value: range, label: t(`ranges.${range}`) }))}
    />
  )
}
