import { SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useUrlState } from "@/hooks/use-url-state"
import type { Range } from "@/lib/api-types"
import { RANGES } from "@/lib/ranges"

/** How far back the charts look; part of the address. */
export function RangePicker({ value, fallback, small = false }: { value: Range; fallback: Range; small?: boolean }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  return (
    <SegmentedControl
      size={small ? "xs" : "sm"}
      data-size={small ? "xs" : undefined}
      aria-label={t("ranges.label")}
      value={value}
      onChange={(range) => change({ range: range === fallback ? undefined : range })}
      data={RANGES.map((range) => ({ value: range, label: t(`ranges.${range}`) }))}
    />
  )
}
