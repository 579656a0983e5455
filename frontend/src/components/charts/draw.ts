import type uPlot from "uplot"
import { type Palette } from "./palette"
import { silences } from "./stack"
import type { Band, ChartEvent, Level } from "./types"

/* Hooks of uPlot count device pixels. */
const px = (size: number) => size * devicePixelRatio

/** Silence of a broker is hatched, so that it does not look like a quiet hour. */
export function drawSilences(chart: uPlot, band: Band, palette: Palette): void {
  const times = chart.data[0]
  const { ctx, bbox } = chart
  for (const { from, to } of silences(band.series.map(({ values }) => values), times.length)) {
    const left = chart.valToPos(times[from] ?? 0, "x", true)
    const right = chart.valToPos(times[to] ?? 0, "x", true)
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, bbox.top, right - left, bbox.height)
    ctx.clip()
    ctx.strokeStyle = palette("--hatch")
    ctx.lineWidth = px(1)
    for (let x = left - bbox.height; x < right; x += px(6)) {
      ctx.moveTo(x, bbox.top + bbox.height)
      ctx.lineTo(x + bbox.height, bbox.top)
    }
    ctx.stroke()
    ctx.restore()
  }
}

export function drawLevels(chart: uPlot, levels: readonly Level[], palette: Palette): void {
  const { ctx, bbox } = chart
  for (const { at, label, tone } of levels) {
    const y = chart.valToPos(at, "y", true)
    if (y < bbox.top || y > bbox.top + bbox.height) continue
    ctx.save()
    ctx.strokeStyle = palette(tone === "warn" ? "--warn-fill" : "--ink-3")
    ctx.fillStyle = palette(tone === "warn" ? "--warn" : "--ink-3")
    dashedLine(ctx, bbox.left, y, bbox.left + bbox.width, y)
    ctx.font = `${px(11)}px "IBM Plex Sans Variable", sans-serif`
    ctx.textAlign = "left"
    ctx.textBaseline = "alphabetic"
    // A level at the very top has its label below the line: above it would be cut.
    ctx.fillText(label, bbox.left + px(4), y - bbox.top < px(16) ? y + px(13) : y - px(4))
    ctx.restore()
  }
}

/** Dashed lines through all bands; the first band carries the flags, which turn left before they meet. */
export function drawEvents(chart: uPlot, events: readonly ChartEvent[], palette: Palette, withFlags: boolean): void {
  const { ctx, bbox } = chart
  const sorted = [...events].sort((a, b) => a.at - b.at)
  sorted.forEach((event, index) => {
    const x = chart.valToPos(event.at, "x", true)
    if (x < bbox.left || x > bbox.left + bbox.width) return
    const color = palette(event.tone ? `--${event.tone}` : "--flag")
    ctx.save()
    ctx.strokeStyle = color
    dashedLine(ctx, x, 0, x, bbox.top + bbox.height)
    if (withFlags) {
      const next = sorted[index + 1]
      const limit = next ? chart.valToPos(next.at, "x", true) : bbox.left + bbox.width
      drawFlag(ctx, { x, limit, label: event.label, color, text: palette("--on-flag"), top: bbox.top })
    }
    ctx.restore()
  })
}

interface Flag {
  x: number
  limit: number
  label: string
  color: string
  text: string
  top: number
}

function drawFlag(ctx: CanvasRenderingContext2D, { x, limit, label, color, text, top }: Flag): void {
  ctx.setLineDash([])
  ctx.textAlign = "left"
  ctx.textBaseline = "alphabetic"
  ctx.font = `${px(11)}px "IBM Plex Sans Variable", sans-serif`
  const width = ctx.measureText(label).width + px(10)
  const left = x + width > limit ? x - width : x
  ctx.fillStyle = color
  ctx.fillRect(left, top, width, px(16))
  ctx.fillStyle = text
  ctx.fillText(label, left + px(5), top + px(12))
}

function dashedLine(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.lineWidth = px(1)
  ctx.setLineDash([px(3), px(3)])
  ctx.beginPath()
  ctx.moveTo(x1, y1)
  ctx.lineTo(x2, y2)
  ctx.stroke()
}
