import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Legend, StripChart } from "@/components/charts/strip-chart"
import type { Band } from "@/components/charts/types"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { count } from "@/lib/format"
import { barsOf } from "../buckets"
import { type Buckets, kindsIn, tokenOf } from "../report"

const HEIGHT = 130

/** When the differences were stored; what matches is not drawn: it would flatten the rest. */
export function DifferencesOverTime({ buckets }: { buckets: Buckets }) {
  const { t } = useTranslation()
  const format = useFormat()
  const bars = useMemo(() => barsOf(buckets), [buckets])
  const bands = useMemo<Band[]>(() => {
    const series = bars?.series.map(({ tile, values }) => ({ id: tile, label: t(`reconcile.tiles.${tile}`), color: tokenOf(tile), values })) ?? []
    return [{ id: "differences", title: t("reconcile.overTime"), height: HEIGHT, asBars: true, write: count, series }]
  }, [bars, t])
  if (!bars) return null
  const undated = kindsIn([buckets.without_time]).reduce((sum, tile) => sum + (buckets.without_time[tile] ?? 0), 0)
  return (
    <Panel
      title={t("reconcile.overTime")}
      note={t("reconcile.perStep", { step: format.duration(buckets.size_ms) })}
      actions={<Legend items={bars.series.map(({ tile }) => ({ label: t(`reconcile.tiles.${tile}`), color: tokenOf(tile), square: true }))} />}
    >
      <StripChart times={bars.times} range={bars.range} bands={bands} label={t("reconcile.overTime")} />
      {undated > 0 && <PanelFoot>{t("reconcile.undated", { count: undated, n: count(undated) })}</PanelFoot>}
    </Panel>
  )
}
