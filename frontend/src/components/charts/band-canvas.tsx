import { useEffect, useLayoutEffect, useRef } from "react"
import uPlot from "uplot"
import { bandOptions } from "./band-options"
import classes from "./charts.module.css"
import { readPalette } from "./palette"
import { stacked } from "./stack"
import type { Band, ChartEvent } from "./types"

interface BandCanvasProps {
  band: Band
  times: readonly number[]
  range: [number, number]
  events: ChartEvent[]
  zone: string
  scheme: string
  syncKey: string
  isFirst: boolean
  isLast: boolean
  onCursor: (index: number | null) => void
  onZoom?: ((from: number, to: number) => void) | undefined
}

function dataOf(band: Band, times: readonly number[]): uPlot.AlignedData {
  const values = band.series.map((series) => series.values)
  const rows = band.isStacked || band.asBars ? stacked(values).reverse() : values
  return [times as number[], ...rows.map((row) => row as (number | null)[])]
}

/** One band on a canvas. It is made anew when its shape changes; new values only change the data. */
export function BandCanvas(props: BandCanvasProps) {
  const { band, times, zone, scheme, syncKey, isFirst, isLast } = props
  const holder = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const latest = useRef(props)
  useLayoutEffect(() => {
    latest.current = props
  })
  const shape = JSON.stringify([band.id, band.height, band.series.map(({ id, color }) => [id, color]), band.levels, zone, scheme, isLast])

  useEffect(() => {
    const element = holder.current
    if (!element) return
    const { band: now, times: at } = latest.current
    const made = new uPlot(
      bandOptions({
        band: now,
        palette: readPalette(),
        zone,
        width: element.clientWidth || 600,
        height: now.height,
        syncKey,
        isFirst,
        isLast,
        range: () => latest.current.range,
        events: () => latest.current.events,
        onCursor: (index) => latest.current.onCursor(index),
        ...(now.asBars && { drawBars: uPlot.paths.bars }),
        onZoom: (from, to) => latest.current.onZoom?.(from, to),
      }),
      dataOf(now, at),
      element,
    )
    chart.current = made
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0)
      if (width > 0 && width !== made.width) made.setSize({ width, height: made.height })
    })
    observer.observe(element)
    void document.fonts.ready.then(() => {
      if (chart.current === made) made.redraw(false, true)
    })
    return () => {
      observer.disconnect()
      chart.current = null
      made.destroy()
    }
  }, [shape, syncKey, isFirst, isLast, zone])

  useEffect(() => {
    chart.current?.setData(dataOf(band, times))
  }, [band, times, shape])

  return <div ref={holder} className={classes.canvas} />
}
