import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { TopicProducers } from "@/lib/api-types"
import { topicKeys } from "./keys"

export const useTopicProducers = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "producers"),
    queryFn: ({ signal }) => api.get<TopicProducers>(paths.topicProducers(cluster, topic), undefined, signal),
    refetchInterval: POLL_MS,
  })
