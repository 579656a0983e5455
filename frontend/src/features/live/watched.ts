import type { UrlState } from "@/hooks/use-url-state"
import { filterOf, readConditions } from "./conditions"
import type { TailRequest } from "./frames"

export const SAMPLES = ["1", "10", "100"] as const
export const MOST_TOPICS = 20
export const MOST_RATE = 1_000
const USUAL_RATE = 50

/** What the address says is watched. */
export interface Watched {
  topics: string[]
  conditions: string[]
  sample: (typeof SAMPLES)[number]
  rate: number
}

export function watchedOf(state: UrlState): Watched {
  const rate = Number(state.rate ?? USUAL_RATE)
  return {
    topics: (state.topics ?? "").split(",").filter(Boolean).slice(0, MOST_TOPICS),
    conditions: readConditions(state.filter),
    sample: SAMPLES.find((sample) => sample === state.sample) ?? "1",
    rate: Number.isInteger(rate) && rate >= 1 && rate <= MOST_RATE ? rate : USUAL_RATE,
  }
}

export function requestOf(cluster: string, { topics, conditions, sample, rate }: Watched): TailRequest | null {
  if (topics.length === 0) return null
  return { cluster, topics, filter: filterOf(conditions), sample: Number(sample), max_rate: rate }
}
