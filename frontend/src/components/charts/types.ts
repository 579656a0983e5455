/** A line of a band. Values are parallel to the chart's times; null is silence, not zero. */
export interface Series {
  id: string
  label: string
  /** The name of a colour token: "--series-1". */
  color: string
  values: readonly (number | null)[]
  dashed?: boolean
  fill?: boolean
  /** Draws the current value in the colour of a warning. */
  isWarm?: boolean
}

/** A level worth knowing: the line where writes stop, the limit of a rate. */
export interface Level {
  at: number
  label: string
  tone?: "warn" | undefined
}

export interface Band {
  id: string
  title: string
  unit?: string
  height: number
  series: Series[]
  levels?: Level[]
  /** Tints stacked on each other under full-colour lines. */
  isStacked?: boolean
  /** Bars on each other instead of lines: numbers of a span of time, which begins at its moment. */
  asBars?: boolean
  max?: number
  /** Levels of the axis are whole numbers (the default), fractions, or spans of time in ms. */
  kind?: "whole" | "fraction" | "duration"
  /** Tints the gap where the first series is above the second. */
  gap?: boolean
  write: (value: number) => string
  /** Shorter, for the axis; compact numbers when absent. */
  writeAxis?: (value: number) => string
}

export interface ChartEvent {
  at: number
  label: string
  tone?: "warn" | "crit" | undefined
}
