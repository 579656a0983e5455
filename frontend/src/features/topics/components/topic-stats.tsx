import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { seriesColors } from "@/components/charts/palette"
import { StripChart } from "@/components/charts/strip-chart"
import type { Band } from "@/components/charts/types"
import { RangePicker } from "@/components/forms/range-picker"
import { PanelFoot } from "@/components/layout/panel"
import { type KeyFigure, TitleBlock } from "@/components/layout/title-block"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { Unknown } from "@/components/values/num"
import { Time } from "@/components/values/time"
import { useUrlState } from "@/hooks/use-url-state"
import type { TopicStats as Stats } from "@/lib/api-types"
import { bytes, count, rate } from "@/lib/format"
import { STATS_RANGES, type StatsRange, useTopicStats } from "../api/get-topic-stats"

const FALLBACK: StatsRange = "24h"
const HEIGHTS = { rate: 132, messages: 92, lag: 92 }
// A minute is written some seconds after its end, and read once a minute.
const STALE_MS = 180_000
const UNFINISHED_MS = 180_000

/** What a topic did over a day: how much came in and went out, what it held, and how far its groups were behind. */
export function TopicStats({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const range = STATS_RANGES.find((each) => each === state.range) ?? FALLBACK
  const stats = useTopicStats(cluster, topic, range)
  return (
    <QueryPanel
      query={stats}
      title={t("topicStats.title")}
      note={t("topicStats.note", { range: t(`ranges.${range}`) })}
      what={t("topicStats.failed")}
      staleAfterMs={STALE_MS}
      skeleton={<SkeletonBlock height={HEIGHTS.rate + HEIGHTS.messages + HEIGHTS.lag} />}
      actions={<RangePicker small value={range} fallback={FALLBACK} ranges={STATS_RANGES} />}
      isEmpty={({ totals }) => totals.measured_minutes === 0}
      empty={<Empty title={t("topicStats.none")} next={t("topicStats.noneNext")} />}
    >
      {(found) => (
        <>
          <Totals stats={found} />
          <Bands stats={found} />
          <Foot stats={found} />
        </>
      )}
    </QueryPanel>
  )
}

function Totals({ stats: { from, totals, groups_hidden: areHidden } }: { stats: Stats }) {
  const { t } = useTranslation()
  const notMeasured = t("topicStats.notMeasured")
  const whyOut = areHidden ? t("topicStats.hidden") : notMeasured
  const since = totals.messages_in_since
  const stored = since !== null && Date.parse(since) > Date.parse(from) ? <>{t("topicStats.storedSince")} <Time at={since} /></> : t("topicStats.stored")
  const sum = (value: number | null, why: string) => (value === null ? <Unknown reason={why} /> : count(value))
  const peak = (label: string, value: number | null, at: string | null, why: string): KeyFigure => ({
    label,
    value: value === null ? <Unknown reason={why} /> : rate(value),
    unit: value === null ? undefined : "/s",
    fact: value === null ? t("states.unknown") : at === null ? t("topicStats.nothingMoved") : <Time at={at} />,
  })
  return (
    <TitleBlock
      inside
      figures={[
        { label: t("topicStats.in"), value: sum(totals.messages_in, notMeasured), fact: stored },
        peak(t("topicStats.peakIn"), totals.peak_in_rate, totals.peak_in_at, notMeasured),
        { label: t("topicStats.out"), value: sum(totals.messages_out, whyOut), fact: t("topicStats.byAll") },
        peak(t("topicStats.peakOut"), totals.peak_out_rate, totals.peak_out_at, whyOut),
      ]}
    />
  )
}

function Bands({ stats }: { stats: Stats }) {
  const { t } = useTranslation()
  const length = finished(stats)
  const bands = useBands(stats, length)
  const begin = Date.parse(stats.from) / 1000
  const end = Date.parse(stats.to) / 1000
  const times = useMemo(() => {
    const step = stats.step_ms / 1000
    return Array.from({ length }, (_, index) => begin + index * step)
  }, [stats.step_ms, begin, length])
  return <StripChart times={times} range={[begin, end]} bands={bands} label={t("topicStats.chart")} gutter />
}

/** How many steps there are without the last ones whose minutes are not over, or not written yet: they are no silence. */
function finished({ series, from, to, step_ms: step }: Stats): number {
  const isKnown = (index: number) => Object.values(series).some((values) => values[index] != null)
  let count = series.in_rate.length
  while (count > 0 && !isKnown(count - 1) && Date.parse(from) + count * step > Date.parse(to) - UNFINISHED_MS) count -= 1
  return count
}

function useBands({ series: all, groups_hidden: areHidden }: Stats, length: number): Band[] {
  const { t } = useTranslation()
  return useMemo(() => {
    const series = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.slice(0, length)])) as Stats["series"]
    const rates: Band = {
      id: "rate",
      title: t("topicStats.rates"),
      unit: "/s",
      height: HEIGHTS.rate,
      write: rate,
      series: [
        { id: "in", label: t("topicStats.in"), color: seriesColors[0], values: series.in_rate },
        ...(areHidden ? [] : [{ id: "out", label: t("topicStats.out"), color: seriesColors[1], values: series.out_rate }]),
      ],
    }
    const messages: Band = {
      id: "messages",
      title: t("topicStats.messages"),
      height: HEIGHTS.messages,
      write: count,
      series: [{ id: "messages", label: t("topicStats.messages"), color: "--load", values: series.messages, fill: true }],
    }
    const lag: Band = {
      id: "lag",
      title: t("topicStats.lag"),
      height: HEIGHTS.lag,
      write: count,
      series: [{ id: "lag", label: t("topicStats.lag"), color: "--warn-fill", values: series.max_lag }],
    }
    return areHidden ? [rates, messages] : [rates, messages, lag]
  }, [all, length, areHidden, t])
}

function Foot({ stats: { totals, series, from, to, groups_hidden: areHidden } }: { stats: Stats }) {
  const { t } = useTranslation()
  const minutes = Math.round((Date.parse(to) - Date.parse(from)) / 60_000)
  const size = series.size_bytes.findLast((value) => value !== null)
  return (
    <PanelFoot>
      <span>
        {t("topicStats.measured", { n: count(totals.measured_minutes), all: count(minutes) })}{" "}
        {size != null && t("topicStats.size", { size: bytes(size) })} {areHidden && t("topicStats.hidden")}
      </span>
    </PanelFoot>
  )
}
