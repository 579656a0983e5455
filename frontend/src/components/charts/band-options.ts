import type uPlot from "uplot"
import { compact } from "@/lib/format"
import { clock, monthAndDay, zoneOffset } from "@/lib/time"
import { drawEvents, drawLevels, drawSilences } from "./draw"
import { type Palette, tint } from "./palette"
import type { Band, ChartEvent } from "./types"

export interface BandOptions {
  band: Band
  palette: Palette
  zone: string
  width: number
  height: number
  syncKey: string
  range: () => [number, number]
  events: () => ChartEvent[]
  isFirst: boolean
  isLast: boolean
  onCursor: (index: number | null) => void
  onZoom?: ((from: number, to: number) => void) | undefined
  /** How bars are drawn, by the library: it is not here where nothing is drawn. */
  drawBars?: typeof uPlot.paths.bars
}

export const AXIS_WIDTH = 52
const AXIS_HEIGHT = 26
const PAD_RIGHT = 10
const TINT = 0.24

/** Everything uPlot must know of one band. Data come apart, so that they can change each second. */
export function bandOptions(options: BandOptions): uPlot.Options {
  const { band, palette, width, height, syncKey, range, isLast } = options
  return {
    width,
    height: height + (isLast ? AXIS_HEIGHT : 0),
    padding: [8, PAD_RIGHT, isLast ? 0 : 6, 0],
    legend: { show: false },
    ms: 1,
    cursor: {
      sync: { key: syncKey, setSeries: false },
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
    },
    scales: { x: { time: false, range: () => range() }, y: { range: valueRange(band) } },
    axes: [timeAxis(options), valueAxis(band, palette)],
    series: [{}, ...seriesOf(options)],
    ...(bandsOf(band, palette) && { bands: bandsOf(band, palette) as uPlot.Band[] }),
    hooks: hooksOf(options),
  }
}

function valueRange(band: Band): uPlot.Range.Function {
  return (_, _low, high) => {
    const levels = (band.levels ?? []).map(({ at }) => at)
    const top = band.max ?? Math.max(high ?? 0, ...levels.filter((at) => at < (high ?? 0) * 3))
    return [0, band.max ?? (top > 0 ? top * 1.12 : 1)]
  }
}

function valueAxis(band: Band, palette: Palette): uPlot.Axis {
  const write = band.writeAxis ?? compact
  return {
    size: AXIS_WIDTH,
    gap: 8,
    space: 38,
    font: '11px "IBM Plex Sans Variable", sans-serif',
    stroke: palette("--ink-3"),
    ticks: { show: false },
    grid: { stroke: palette("--line"), width: 1 },
    values: (_, splits) => splits.map((value) => write(value)),
    splits: (_self, _axis, low, high) => splitsBetween(low, high, { kind: band.kind, most: band.height / LEVEL_PX }),
  }
}

/** A few round levels: what an eye needs to read a band. */
export function splitsBetween(low: number, high: number, { kind = "whole", most = 3.6 }: Levels = {}): number[] {
  const span = high - low
  if (!(span > 0)) return [low]
  const step = kind === "duration" ? durationStep(span, most) : Math.max(roundStep(span, most), kind === "whole" ? 1 : 0)
  const found: number[] = []
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Number(value.toPrecision(12)))
  return found
}

const LEVEL_PX = 42

interface Levels {
  kind?: Band["kind"]
  /** How many levels there is room for. */
  most?: number
}

function roundStep(span: number, most: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(span / most))
  return [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((size) => span / size < most) ?? span
}

const MINUTE_MS = 60_000
const DURATIONS_MS = [
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 20, 30, 60, 120, 240, 360, 720, 1_440, 2_880, 7_200].map((minutes) => minutes * MINUTE_MS),
]

const durationStep = (span: number, most: number): number => DURATIONS_MS.find((size) => span / size < most) ?? roundStep(span, most)

const STEPS_S = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604_800, 2_592_000, 7_776_000] as const
const LABEL_PX = 88
/** From here on labels stand days apart: their clocks would all be the same. */
const MANY_DAYS_S = 6 * 86_400

function timeAxis({ palette, zone, isLast }: BandOptions): uPlot.Axis {
  return {
    show: isLast,
    size: AXIS_HEIGHT,
    gap: 6,
    font: '11px "IBM Plex Sans Variable", sans-serif',
    stroke: palette("--ink-3"),
    ticks: { show: false },
    grid: { show: false },
    splits: (chart, _axis, low, high) => timeSplits(low, high, chart.bbox.width / devicePixelRatio, zone),
    values: (chart, splits) => splits.map((at) => (isNearEdge(chart, at) ? "" : timeLabel(at, zone, chart))),
  }
}

function timeSplits(low: number, high: number, width: number, zone: string): number[] {
  const wanted = (high - low) / Math.max(1, width / LABEL_PX)
  const step = STEPS_S.find((size) => size >= wanted) ?? 31_536_000
  // Round in the wall clock of the zone, or days would begin at another hour.
  const offset = zoneOffset(low * 1000, zone) / 1000
  const found: number[] = []
  for (let at = Math.ceil((low + offset) / step) * step - offset; at <= high; at += step) found.push(at)
  return found
}

function isNearEdge(chart: uPlot, at: number): boolean {
  const x = chart.valToPos(at, "x")
  return x < 14 || x > chart.bbox.width / devicePixelRatio - 14
}

function timeLabel(at: number, zone: string, chart: uPlot): string {
  const span = (chart.scales.x?.max ?? 0) - (chart.scales.x?.min ?? 0)
  if (span > MANY_DAYS_S) return monthAndDay(at * 1000, zone)
  return clock(at * 1000, zone, { seconds: span < 300 })
}

function seriesOf(options: BandOptions): uPlot.Series[] {
  const { band, palette } = options
  if (band.asBars) return barsOf(options)
  // Stacks are drawn from the top down, so that each lower line stays visible.
  const ordered = band.isStacked ? [...band.series].reverse() : band.series
  return ordered.map(({ label, color, dashed, fill }, index) => ({
    label,
    scale: "y",
    stroke: palette(color),
    width: 1.5,
    points: { show: false },
    spanGaps: false,
    ...(dashed && { dash: [4, 3] }),
    ...(fill && !band.isStacked && { fill: tint(palette(color), 0.14) }),
    ...(band.isStacked && index === ordered.length - 1 && { fill: tint(palette(color), TINT) }),
  }))
}

const BAR_SHARE = 0.84
const WIDEST_BAR_PX = 26

/** The whole stack first and its lowest part last: each covers what is not its own. */
function barsOf({ band, palette, drawBars }: BandOptions): uPlot.Series[] {
  return [...band.series].reverse().map(({ label, color }) => ({
    label,
    scale: "y",
    width: 0,
    fill: palette(color),
    points: { show: false },
    ...(drawBars && { paths: drawBars({ size: [BAR_SHARE, WIDEST_BAR_PX], align: 1 }) }),
  }))
}

function bandsOf(band: Band, palette: Palette): uPlot.Band[] | null {
  if (band.asBars) return null
  if (band.gap) return [{ series: [1, 2], fill: tint(palette("--warn-fill"), 0.22), dir: -1 }]
  if (!band.isStacked) return null
  const last = band.series.length
  return band.series
    .map((_, index) => ({ from: index + 1, color: palette(band.series[last - 1 - index]?.color ?? "--load") }))
    .filter(({ from }) => from < last)
    .map(({ from, color }) => ({ series: [from, from + 1] as [number, number], fill: tint(color, TINT), dir: -1 as const }))
}

function hooksOf(options: BandOptions): uPlot.Hooks.Arrays {
  const { band, palette, events, isFirst, onCursor, onZoom } = options
  return {
    drawAxes: [(chart) => drawSilences(chart, band, palette)],
    draw: [
      (chart) => drawLevels(chart, band.levels ?? [], palette),
      (chart) => drawEvents(chart, events(), palette, isFirst),
    ],
    setCursor: [(chart) => onCursor(chart.cursor.idx ?? null)],
    setSelect: [
      (chart) => {
        if (!onZoom || chart.select.width < 6) return
        const { left, width } = chart.select
        chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        onZoom(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"))
      },
    ],
  }
}
