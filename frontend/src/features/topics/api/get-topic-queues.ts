import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Items, TopicQueue } from "@/lib/api-types"
import { topicKeys } from "./keys"

export const useTopicQueues = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "queues"),
    queryFn: ({ signal }) => api.get<Items<TopicQueue>>(paths.topicQueues(cluster, topic), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
