import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicImpact } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** What a deletion would take with it, as of now. */
export const useTopicImpact = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "impact"),
    queryFn: ({ signal }) => api.get<TopicImpact>(paths.topicImpact(cluster, topic), undefined, signal),
    staleTime: 0,
  })
