interface SparklineProps {
  values: readonly (number | null)[]
  tone?: "normal" | "growing"
  /** The top of the drawing; a common base keeps 3 messages from looking like an incident. */
  base?: number
  width?: number
}

const HEIGHT = 20
const ROOM = 2.5

const MOST_POINTS = 36

/** Means of neighbours: more points than pixels would only draw noise. */
function thinned(values: readonly (number | null)[]): readonly (number | null)[] {
  const size = Math.ceil(values.length / MOST_POINTS)
  if (size <= 1) return values
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size).filter((value): value is number => value !== null)
    return part.length === 0 ? null : part.reduce((sum, value) => sum + value, 0) / part.length
  })
}

/** A small line without axes: where it went, not how much. */
export function Sparkline({ values: all, tone = "normal", base = 0, width = 72 }: SparklineProps) {
  const values = thinned(all)
  const known = values.filter((value): value is number => value !== null)
  const top = Math.max(base, ...known)
  const colour = tone === "growing" ? "var(--warn-fill)" : "var(--load)"
  if (known.length < 2 || top === 0)
    return (
      <svg width={width} height={HEIGHT} aria-hidden>
        <path d={`M0 ${HEIGHT - ROOM}H${width}`} stroke="var(--line-2)" />
      </svg>
    )
  const bottom = Math.min(...known) > top / 2 ? Math.min(...known) * 0.9 : 0
  const x = (index: number) => (index / Math.max(1, values.length - 1)) * (width - ROOM * 2) + 0.5
  const y = (value: number) => HEIGHT - ROOM - ((value - bottom) / (top - bottom || 1)) * (HEIGHT - ROOM * 2)
  const points = values.flatMap((value, index) => (value === null ? [] : [[x(index), y(value)] as const]))
  const line = points.map(([px, py], index) => `${index === 0 ? "M" : "L"}${px.toFixed(1)} ${py.toFixed(1)}`).join("")
  const [first, last] = [points[0], points[points.length - 1]]
  if (!first || !last) return null
  return (
    <svg width={width} height={HEIGHT} aria-hidden>
      <path d={`${line}L${last[0]} ${HEIGHT}L${first[0]} ${HEIGHT}Z`} fill={colour} fillOpacity={0.1} />
      <path d={line} fill="none" stroke={colour} strokeWidth={1.3} />
      <circle cx={last[0]} cy={last[1]} r={1.9} fill={colour} />
    </svg>
  )
}
