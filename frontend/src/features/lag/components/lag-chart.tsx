import { ActionIcon, Tooltip } from "@mantine/core"
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { seriesColors } from "@/components/charts/palette"
import { Legend, type LegendItem, StripChart } from "@/components/charts/strip-chart"
import type { Band } from "@/components/charts/types"
import { RangePicker } from "@/components/forms/range-picker"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { usePhone } from "@/hooks/use-media"
import { useTail } from "@/hooks/use-tail"
import { useUrlState } from "@/hooks/use-url-state"
import type { Group, GroupHistory, Range } from "@/lib/api-types"
import { count, rate, signed } from "@/lib/format"
import { isGrowing, lagGrowth } from "@/lib/lag"
import { RANGE_MS, rangeOf } from "@/lib/ranges"
import { joined, type Samples } from "@/lib/samples"
import { useLagHistory } from "../api/get-lag-history"

const KEYS = ["lag", "in_rate", "out_rate"] as const
type Key = (typeof KEYS)[number]

const LAG_HEIGHT = 132
const RATE_HEIGHT = 92
const AXIS = 26

/** How the lag went, and why: below it what came in and what went out. */
export function LagChart({ cluster, group }: { cluster: string; group: Group }) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const isPhone = usePhone()
  const range = rangeOf(state.range, "15m")
  const history = useLagHistory(cluster, group.name, range)
  const [isPaused, setPaused] = useState(false)
  const legend = useLegend(group)
  return (
    <QueryPanel
      query={history}
      title={t("lag.chart")}
      note={t("lag.chartNote", { range: t(`ranges.${range}`) })}
      what={t("lag.historyFailed")}
      skeleton={<SkeletonBlock height={LAG_HEIGHT + RATE_HEIGHT + AXIS} />}
      actions={
        isPhone ? undefined : (
          <>
            <Legend items={legend} />
            <RangePicker small value={range} fallback="15m" />
            <PauseButton isPaused={isPaused} onChange={setPaused} />
          </>
        )
      }
    >
      {(data) => <LagBands key={`${group.name} ${range}`} history={data} range={range} group={group} isPaused={isPaused} />}
    </QueryPanel>
  )
}

function PauseButton({ isPaused, onChange }: { isPaused: boolean; onChange: (isPaused: boolean) => void }) {
  const { t } = useTranslation()
  const Icon = isPaused ? IconPlayerPlay : IconPlayerPause
  const label = isPaused ? t("lag.resume") : t("lag.pause")
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => onChange(!isPaused)}>
        <Icon size={15} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

function useLegend(group: Group): LegendItem[] {
  const { t } = useTranslation()
  const growth = lagGrowth(group)
  const perSecond = (value: number | null) => (value === null ? "—" : `${rate(value)}/s`)
  return [
    { label: t("lag.in"), value: perSecond(group.in_rate), color: seriesColors[0] },
    { label: t("lag.out"), value: perSecond(group.out_rate), color: seriesColors[1] },
    {
      label: t("lag.gap"),
      value: growth === null ? "—" : `${signed(growth)}/s`,
      color: "--warn-line",
      square: true,
      isWarm: growth !== null && growth > 0 && isGrowing(group),
    },
  ]
}

interface LagBandsProps {
  history: GroupHistory
  range: Range
  group: Group
  isPaused: boolean
}

function LagBands({ history, range, group, isPaused }: LagBandsProps) {
  const { t } = useTranslation()
  const { lag, in_rate, out_rate, at } = group
  const sample = useMemo(() => ({ at: Date.parse(at), values: { lag, in_rate, out_rate } }), [at, lag, in_rate, out_rate])
  const tail = useTail<Key>(`${group.name} ${range}`, sample)
  const moving = useMemo(() => joined<Key>(history, tail, KEYS), [history, tail])
  const [frozen, setFrozen] = useState<Samples<Key> | null>(null)
  if (isPaused && frozen === null) setFrozen(moving)
  if (!isPaused && frozen !== null) setFrozen(null)
  const samples = frozen ?? moving
  const bands = useLagBands(samples, isGrowing(group))
  const end = samples.times.at(-1) ?? 0
  return <StripChart times={samples.times} range={[end - RANGE_MS[range] / 1000, end]} bands={bands} label={t("lag.chart")} />
}

function useLagBands({ series }: Samples<Key>, isGrowing: boolean): Band[] {
  const { t } = useTranslation()
  return useMemo(
    () => [
      {
        id: "lag",
        title: t("lag.lag"),
        height: LAG_HEIGHT,
        write: count,
        series: [{ id: "lag", label: t("lag.lag"), color: isGrowing ? "--warn-fill" : "--load", values: series.lag ?? [], fill: true }],
      },
      {
        id: "rate",
        title: t("lag.rates"),
        height: RATE_HEIGHT,
        gap: true,
        write: rate,
        series: [
          { id: "in", label: t("lag.in"), color: seriesColors[0], values: series.in_rate ?? [] },
          { id: "out", label: t("lag.out"), color: seriesColors[1], values: series.out_rate ?? [] },
        ],
      },
    ],
    [series, isGrowing, t],
  )
}
