import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicImpact } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** What a deletion would take with it. */
export const useTopicDeletion = (cluster: string, topic: string, isWanted: boolean) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "deletion"),
    queryFn: () => api.delete<TopicImpact>(paths.topic(cluster, topic), { dry_run: true }),
    enabled: isWanted,
    staleTime: 0,
  })
