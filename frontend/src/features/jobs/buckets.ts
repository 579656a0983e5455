import { type Buckets, type Tile, TILES } from "./report"

export interface Bars {
  /** Seconds since 1970, one for each step from the first bucket to the last. */
  times: number[]
  range: [number, number]
  series: { tile: Tile; values: number[] }[]
}

/** A chart of fewer steps would be one thick bar without a time. */
const LEAST_STEPS = 24

/** The differences over time with the empty steps between them; null where there is none to draw. */
export function barsOf({ size_ms: size, times, classes }: Buckets): Bars | null {
  const [first, last] = [times[0], times.at(-1)]
  const drawn = TILES.filter((tile) => tile !== "matched" && classes[tile]?.some((amount) => amount > 0))
  if (first === undefined || last === undefined || drawn.length === 0) return null
  const steps = Math.round((last - first) / size) + 1
  const beside = (Math.max(0, LEAST_STEPS - steps) / 2) * size
  const places = times.map((time) => Math.round((time - first) / size))
  return {
    times: Array.from({ length: steps }, (_, step) => (first + step * size) / 1000),
    range: [(first - beside) / 1000, (last + size + beside) / 1000],
    series: drawn.map((tile) => {
      const values = new Array<number>(steps).fill(0)
      places.forEach((place, index) => (values[place] = classes[tile]?.[index] ?? 0))
      return { tile, values }
    }),
  }
}
