type Values = readonly (number | null)[]

/** Series over a range of time, as the history endpoints answer. */
export interface History<K extends string> {
  step_ms: number
  from: string
  to: string
  series: Partial<Record<K, Values>>
}

/** One moment of the same series, from the live channel. */
export interface Sample<K extends string> {
  at: number
  values: Partial<Record<K, number | null>>
}

export interface Samples<K extends string> {
  /** Seconds since 1970. */
  times: number[]
  series: Partial<Record<K, (number | null)[]>>
}

/** The kept history and what came live after it, on one time axis. */
export function joined<K extends string>(history: History<K>, tail: readonly Sample<K>[], keys: readonly K[]): Samples<K> {
  const from = Date.parse(history.from)
  const length = Math.max(0, ...keys.map((key) => history.series[key]?.length ?? 0))
  const times = Array.from({ length }, (_, index) => (from + index * history.step_ms) / 1000)
  const series = Object.fromEntries(
    keys.map((key) => [key, padded(history.series[key] ?? [], length)]),
  ) as Samples<K>["series"]
  const end = times.at(-1) ?? 0
  for (const { at, values } of tail) {
    if (at / 1000 <= end) continue
    times.push(at / 1000)
    for (const key of keys) series[key]?.push(values[key] ?? null)
  }
  for (const key of keys) bridge(times, series[key] ?? [], (2 * history.step_ms + ALLOWED_MS) / 1000)
  return { times, series }
}

const ALLOWED_MS = 10_000

/** A gap that is only as long as measuring takes is no silence: the value before it stays until the next one. */
function bridge(times: readonly number[], values: (number | null)[], allowed: number): void {
  let last = -1
  values.forEach((value, index) => {
    if (value === null) return
    if (last >= 0 && index - last > 1 && (times[index] ?? 0) - (times[last] ?? 0) <= allowed) {
      values.fill(values[last] ?? null, last + 1, index)
    }
    last = index
  })
}

const padded = (values: Values, length: number): (number | null)[] => [
  ...values,
  ...new Array<null>(Math.max(0, length - values.length)).fill(null),
]

/** Adds a sample and drops what is older than `keepMs`; the same moment is not added twice. */
export function withSample<K extends string>(tail: Sample<K>[], sample: Sample<K>, keepMs: number): Sample<K>[] {
  const last = tail.at(-1)
  if (last && sample.at <= last.at) return tail
  return [...tail.filter(({ at }) => at > sample.at - keepMs), sample]
}
