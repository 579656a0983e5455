import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Range, TopicStats } from "@/lib/api-types"
import { RANGE_MS } from "@/lib/ranges"
import { topicKeys } from "./keys"

/** The ranges that the minutes of a topic reach. */
export const STATS_RANGES = ["1h", "6h", "24h"] as const satisfies readonly Range[]
export type StatsRange = (typeof STATS_RANGES)[number]

const MINUTE_MS = 60_000
const EVERY_MS = MINUTE_MS
const STEP: Record<StatsRange, { name: string; ms: number }> = { "1h": { name: "1m", ms: MINUTE_MS }, "6h": { name: "1m", ms: MINUTE_MS }, "24h": { name: "5m", ms: 5 * MINUTE_MS } }

const getTopicStats = (cluster: string, topic: string, range: StatsRange, signal: AbortSignal) => {
  const { name, ms } = STEP[range]
  // Steps are whole: one that contains the begin would be one too many.
  const from = new Date(Math.ceil(Date.now() / ms) * ms - RANGE_MS[range]).toISOString()
  return api.get<TopicStats>(paths.topicStats(cluster, topic), { from, step: name }, signal)
}

export const useTopicStats = (cluster: string, topic: string, range: StatsRange) =>
  useQuery({
    queryKey: [...topicKeys.part(cluster, topic, "stats"), range],
    queryFn: ({ signal }) => getTopicStats(cluster, topic, range, signal),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
