import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicChange, TopicChanged } from "@/lib/api-types"
import { topicKeys } from "./keys"

export function useUpdateTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (change: TopicChange) => api.patch<TopicChanged>(paths.topic(cluster, topic), change),
    // Also when it was refused: it may have changed meanwhile.
    onSettled: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}
