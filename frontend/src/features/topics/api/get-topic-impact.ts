import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, shareTag } from "@/lib/api-client"
import type { TopicImpact } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** What a deletion would take with it, as of now. */
export const useTopicImpact = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "impact"),
    queryFn: async ({ signal }) => {
      const path = paths.topicImpact(cluster, topic)
      const impact = await api.get<TopicImpact>(path, undefined, signal)
      // The deletion is one of the topic as it was when its impact was shown.
      shareTag(path, paths.topic(cluster, topic))
      return impact
    },
    staleTime: 0,
  })
