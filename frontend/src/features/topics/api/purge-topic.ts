import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicPurge } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Purges what the preview counted: messages that arrived since stay. */
export function usePurgeTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ queues }: TopicPurge) =>
      api.post<TopicPurge>(paths.topicPurge(cluster, topic), {
        queues: queues.map(({ broker, queue_id, before }) => ({ broker, queue_id, before })),
      }),
    onSettled: () => {
      void cache.invalidateQueries({ queryKey: topicKeys.one(cluster, topic) })
      void cache.invalidateQueries({ queryKey: topicKeys.lists(cluster) })
    },
  })
}
