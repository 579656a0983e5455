import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { TopicQueues } from "@/lib/api-types"
import { topicKeys } from "./keys"

const queuesQuery = (cluster: string, topic: string) => ({
  queryKey: topicKeys.part(cluster, topic, "queues"),
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get<TopicQueues>(paths.topicQueues(cluster, topic), undefined, signal),
  refetchInterval: POLL_MS,
})

export const useTopicQueues = (cluster: string, topic: string) => useQuery({ ...queuesQuery(cluster, topic), select: ({ items }) => items })

/** The settings of a topic on each of its brokers. */
export const useBrokerQueues = (cluster: string, topic: string) => useQuery({ ...queuesQuery(cluster, topic), select: ({ brokers }) => brokers })
