import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { OTHERS_COLOR, seriesColors } from "@/components/charts/palette"
import { StripChart } from "@/components/charts/strip-chart"
import type { Band, Series } from "@/components/charts/types"
import { QueryPanel } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { useFormat } from "@/hooks/use-format"
import { useTail } from "@/hooks/use-tail"
import type { Overview, OverviewHistory, Range } from "@/lib/api-types"
import { compact, count, percentNumber, rate } from "@/lib/format"
import { RANGE_MS } from "@/lib/ranges"
import type { Samples } from "@/lib/samples"
import { useOverviewHistory } from "../api/get-overview-history"
import { GROUPS, type Key, of, sampleOf, samplesOf } from "../overview-samples"

const HEIGHT = 633

/** Four bands over one time axis: rate, lag by group, oldest unconsumed, disk. */
export function OverviewChart({ cluster, range, overview }: { cluster: string; range: Range; overview: Overview | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  const history = useOverviewHistory(cluster, range)
  return (
    <QueryPanel
      query={history}
      title={t(`overview.last.${range}`)}
      note={t("overview.chartNote")}
      actions={history.dataUpdatedAt > 0 && `${format.clock(history.dataUpdatedAt)} ${format.zoneLabel()}`}
      what={t("overview.historyFailed")}
      skeleton={<SkeletonBlock height={HEIGHT} />}
    >
      {(data) => <Bands key={`${cluster} ${range}`} history={data} range={range} overview={overview} name={`${cluster} ${range}`} />}
    </QueryPanel>
  )
}

interface BandsProps {
  history: OverviewHistory
  range: Range
  overview: Overview | undefined
  name: string
}

function Bands({ history, range, overview, name }: BandsProps) {
  const { t } = useTranslation()
  const groups = useMemo(() => Object.keys(history.group_lag), [history])
  const tail = useTail<Key>(name, useMemo(() => sampleOf(overview, groups), [overview, groups]))
  const samples = useMemo(() => samplesOf(history, tail, groups), [history, tail, groups])
  const bands = useBands(samples, groups, overview?.limited ? "consumed" : "out")
  const [zoom, setZoom] = useState<[number, number] | null>(null)
  const end = samples.times.at(-1) ?? 0
  return (
    <div onDoubleClick={() => setZoom(null)}>
      <StripChart
        times={samples.times}
        range={zoom ?? [end - RANGE_MS[range] / 1000, end]}
        bands={bands}
        gutter
        onZoom={(from, to) => setZoom([from, to])}
        label={t("overview.chartNote")}
      />
    </div>
  )
}

function useBands(samples: Samples<Key>, groups: readonly string[], out: "out" | "consumed"): Band[] {
  const { t } = useTranslation()
  const format = useFormat()
  return useMemo(() => {
    const bands: Band[] = [
      {
        id: "rate",
        title: t("overview.bands.rate"),
        unit: t("overview.bands.rateUnit"),
        height: 150,
        write: rate,
        series: [
          { id: "in", label: t("overview.bands.in"), color: seriesColors[0], values: of(samples, "in_rate") },
          { id: "out", label: t(`overview.bands.${out}`), color: seriesColors[1], values: of(samples, "out_rate") },
        ],
      },
      {
        id: "lag",
        title: t("overview.bands.lag"),
        unit: t("overview.bands.lagUnit"),
        height: 190,
        isStacked: true,
        write: count,
        series: lagSeries(samples, groups, t("overview.bands.others"), t("overview.bands.all")),
      },
      {
        id: "oldest",
        title: t("overview.bands.oldest"),
        height: 136,
        kind: "duration",
        write: (ms) => format.duration(ms),
        writeAxis: (ms) => (ms === 0 ? "0" : format.axisDuration(ms)),
        series: [{ id: "oldest", label: t("overview.bands.age"), color: seriesColors[0], values: of(samples, "oldest_unconsumed_ms") }],
      },
      {
        id: "disk",
        title: t("overview.bands.disk"),
        unit: "%",
        height: 126,
        max: 1,
        kind: "fraction",
        write: percentNumber,
        writeAxis: (ratio) => compact(ratio * 100),
        series: [{ id: "disk", label: t("overview.bands.used"), color: seriesColors[0], values: of(samples, "disk_used_ratio"), fill: true }],
      },
    ]
    return bands
  }, [samples, groups, out, t, format])
}

/** The top groups in their colours, then what is left of the total as "others", last and dashed; without it where nothing is left. */
function lagSeries(samples: Samples<Key>, groups: readonly string[], others: string, all: string): Series[] {
  const named = groups.map((group, index) => ({
    id: group,
    label: group,
    color: seriesColors[index % seriesColors.length] ?? OTHERS_COLOR,
    values: of(samples, `${GROUPS}${group}`),
  }))
  const rest = of(samples, "total_lag").map((total, index) => {
    if (total === null) return null
    return Math.max(0, total - named.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  })
  if (named.length > 0 && !rest.some((left) => left !== null && left > 0)) return named
  const label = named.length > 0 ? others : all
  return [...named, { id: "others", label, color: OTHERS_COLOR, values: rest, dashed: named.length > 0 }]
}
