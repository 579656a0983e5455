import type { Overview, OverviewHistory } from "@/lib/api-types"
import { joined, type Sample, type Samples } from "@/lib/samples"

const KEYS = ["in_rate", "out_rate", "total_lag", "oldest_unconsumed_ms", "disk_used_ratio"] as const
export type Key = (typeof KEYS)[number] | `group:${string}`

const MOST_WORST = 5
export const GROUPS = "group:"

export const of = ({ series }: Samples<Key>, key: Key): (number | null)[] => series[key] ?? []

/** The live state as one moment of the chart: null is unknown, and a group of which it does not speak is absent. */
export function sampleOf(overview: Overview | undefined, groups: readonly string[]): Sample<Key> | null {
  if (!overview) return null
  const { in_rate, out_rate, total_lag, oldest_unconsumed_ms, disk_used_ratio, worst_groups: worst } = overview
  const values: Sample<Key>["values"] = { in_rate, out_rate, total_lag, oldest_unconsumed_ms, disk_used_ratio }
  for (const group of groups) {
    const named = worst.find(({ name }) => name === group)
    if (named) values[`${GROUPS}${group}`] = named.lag
    else if (total_lag === null) values[`${GROUPS}${group}`] = null
    // Fewer than the list has room for: whoever is not on it has no lag.
    else if (worst.length < MOST_WORST) values[`${GROUPS}${group}`] = 0
  }
  return { at: Date.parse(overview.at), values }
}

export function samplesOf(history: OverviewHistory, tail: Sample<Key>[], groups: readonly string[]): Samples<Key> {
  const keys: Key[] = [...KEYS, ...groups.map((group) => `${GROUPS}${group}` as const)]
  const series: Record<string, readonly (number | null)[]> = { ...history.series }
  for (const group of groups) series[`${GROUPS}${group}`] = history.group_lag[group] ?? []
  const all = joined({ ...history, series }, tail, keys)
  const told = new Map(tail.map(({ at, values }) => [at / 1000, values]))
  for (const group of groups) carryForward(all, `${GROUPS}${group}`, told)
  return all
}

/** The live state names only the worst groups: the others stay where they were until the history is read again. */
function carryForward(all: Samples<Key>, key: Key, told: ReadonlyMap<number, Sample<Key>["values"]>): void {
  const values = of(all, key)
  all.times.forEach((at, index) => {
    const sample = told.get(at)
    if (index > 0 && sample && !(key in sample)) values[index] = values[index - 1] ?? null
  })
}
