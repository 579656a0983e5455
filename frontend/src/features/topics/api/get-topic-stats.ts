import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Range, TopicStats } from "@/lib/api-types"
import { RANGE_MS } from "@/lib/ranges"
import { topicKeys } from "./keys"

/** The ranges that the minutes of a topic reach. */
export const STATS_RANGES = ["1h", "6h", "24h"] as const satisfies readonly Range[]
export type StatsRange = (typeof STATS_RANGES)[number]

const STEP: Record<StatsRange, string> = { "1h": "1m", "6h": "1m", "24h": "5m" }
const EVERY_MS = 60_000

const getTopicStats = (cluster: string, topic: string, range: StatsRange, signal: AbortSignal) => {
  const from = new Date(Date.now() - RANGE_MS[range]).toISOString()
  return api.get<TopicStats>(paths.topicStats(cluster, topic), { from, step: STEP[range] }, signal)
}

export const useTopicStats = (cluster: string, topic: string, range: StatsRange) =>
  useQuery({
    queryKey: [...topicKeys.part(cluster, topic, "stats"), range],
    queryFn: ({ signal }) => getTopicStats(cluster, topic, range, signal),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
