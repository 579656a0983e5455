import { useComputedColorScheme } from "@mantine/core"
import { lazy, Suspense, useId, useState } from "react"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { Unknown } from "@/components/values/num"
import { useZone } from "@/hooks/use-format"
import classes from "./charts.module.css"
import type { Band, ChartEvent, Series } from "./types"

// What draws is a quarter of what the overview would load before it shows anything.
const BandCanvas = lazy(async () => ({ default: (await import("./band-canvas")).BandCanvas }))

interface StripChartProps {
  /** Seconds since 1970, parallel to the values of every series. */
  times: readonly number[]
  range: [number, number]
  bands: Band[]
  events?: ChartEvent[]
  gutter?: boolean
  onZoom?: (from: number, to: number) => void
  label: string
}

const NO_EVENTS: ChartEvent[] = []

/** Bands over one time axis, as a chart recorder draws them; the gutter holds names and values under the cursor. */
export function StripChart({ times, range, bands, events = NO_EVENTS, gutter = false, onZoom, label }: StripChartProps) {
  const scheme = useComputedColorScheme("light")
  const zone = useZone()
  const syncKey = useId()
  const [cursor, setCursor] = useState<number | null>(null)
  return (
    <div className={classes.chart} data-gutter={gutter || undefined} role="img" aria-label={label}>
      {bands.map((band, index) => (
        <div key={band.id} className={classes.band}>
          <Suspense fallback={<SkeletonBlock height={band.height} />}>
            <BandCanvas
              band={band}
              times={times}
              range={range}
              events={events}
              zone={zone}
              scheme={scheme}
              syncKey={syncKey}
              isFirst={index === 0}
              isLast={index === bands.length - 1}
              onCursor={setCursor}
              onZoom={onZoom}
            />
          </Suspense>
          {gutter && <Gutter band={band} index={cursor} />}
        </div>
      ))}
    </div>
  )
}

function Gutter({ band, index }: { band: Band; index: number | null }) {
  return (
    <div className={classes.gutter}>
      <h3>
        {band.title}
        {band.unit && <span>{band.unit}</span>}
      </h3>
      {band.series.map((series) => (
        <GutterLine key={series.id} series={series} value={valueAt(series, index)} write={band.write} />
      ))}
      {(band.levels ?? []).map((level) => (
        <div key={level.label} className={classes.line}>
          <span className={`${classes.dash} ${classes.level}`} />
          <span className={classes.name}>{level.label}</span>
        </div>
      ))}
    </div>
  )
}

function GutterLine({ series, value, write }: { series: Series; value: number | null; write: Band["write"] }) {
  return (
    <div className={classes.line}>
      <span className={classes.dash} style={{ background: `var(${series.color})` }} aria-hidden />
      <span className={classes.name} title={series.label}>
        {series.label}
      </span>
      <span className={series.isWarm ? classes.warm : undefined}>
        {value === null ? <Unknown width={18} /> : write(value)}
      </span>
    </div>
  )
}

/** The value under the cursor, or the last one. */
export function valueAt(series: Series, index: number | null): number | null {
  if (index !== null) return series.values[index] ?? null
  return series.values[series.values.length - 1] ?? null
}

export interface LegendItem {
  label: string
  value?: string | undefined
  color: string
  isWarm?: boolean
  square?: boolean
}

/** Names and current values in the head of a panel, for charts without a gutter. */
export function Legend({ items }: { items: LegendItem[] }) {
  return (
    <span className={classes.legend}>
      {items.map(({ label, value, color, isWarm, square }) => (
        <span key={label}>
          <span className={square ? classes.square : classes.dash} style={{ background: `var(${color})` }} aria-hidden />
          {label}
          {value !== undefined && <b className={isWarm ? classes.warm : undefined}>{value}</b>}
        </span>
      ))}
    </span>
  )
}
