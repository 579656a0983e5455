import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { seriesColors } from "@/components/charts/palette"
import { StripChart } from "@/components/charts/strip-chart"
import type { Band } from "@/components/charts/types"
import { RangePicker } from "@/components/forms/range-picker"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { useUrlState } from "@/hooks/use-url-state"
import type { Range, TopicStats } from "@/lib/api-types"
import { rate } from "@/lib/format"
import { isInstant } from "@/lib/time"

const HEIGHT = 120

interface ReadRangeProps {
  stats: Parameters<typeof QueryPanel<TopicStats>>[0]["query"]
  range: Range
  ranges: readonly Range[]
}

/** What the topic stored over time, the part that will be read in colour; dragging over it chooses the part. */
export function ReadRange({ stats, range, ranges }: ReadRangeProps) {
  const { t } = useTranslation()
  return (
    <QueryPanel
      query={stats}
      title={t("jobs.whatIsRead")}
      note={t("jobs.whatIsReadNote")}
      actions={<RangePicker small value={range} fallback="1h" ranges={ranges} />}
      what={t("jobs.whatIsReadFailed")}
      skeleton={<SkeletonBlock height={HEIGHT + 26} />}
    >
      {(known) => <Stored stats={known} />}
    </QueryPanel>
  )
}

function Stored({ stats }: { stats: TopicStats }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { from, to } = state
  const begin = Date.parse(stats.from)
  const stored = stats.series.in_rate
  const times = useMemo(() => stored.map((_, index) => (begin + index * stats.step_ms) / 1000), [stored, begin, stats.step_ms])
  const bands = useMemo<Band[]>(() => {
    const chosen = chosenOf(times, stored, from, to)
    return [
      {
        id: "stored",
        title: t("jobs.stored"),
        height: HEIGHT,
        write: rate,
        series: [
          { id: "stored", label: t("jobs.stored"), color: "--line-2", values: stored, fill: true },
          { id: "chosen", label: t("jobs.willBeRead"), color: seriesColors[0], values: chosen, fill: true },
        ],
      },
    ]
  }, [t, times, stored, from, to])
  return (
    <StripChart
      times={times}
      range={[begin / 1000, Date.parse(stats.to) / 1000]}
      bands={bands}
      label={t("jobs.whatIsRead")}
      onZoom={(low, high) => change({ from: instant(low), to: instant(high) })}
    />
  )
}

const instant = (seconds: number): string => new Date(Math.round(seconds) * 1000).toISOString()

/** The values inside the range; a bound that is open, or no moment, cuts nothing off. */
export function chosenOf(times: readonly number[], values: readonly (number | null)[], from: string | undefined, to: string | undefined): (number | null)[] {
  const low = from && isInstant(from) ? Date.parse(from) / 1000 : -Infinity
  const high = to && isInstant(to) ? Date.parse(to) / 1000 : Infinity
  return values.map((value, index) => ((times[index] ?? 0) >= low && (times[index] ?? 0) <= high ? value : null))
}
