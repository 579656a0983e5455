import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, withQuery } from "@/lib/api-client"
import type { TopicPurge } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** What a purge of all that is stored now would take. */
export const usePurgePreview = (cluster: string, topic: string) =>
  useQuery({
    queryKey: [...topicKeys.part(cluster, topic, "purge")],
    queryFn: ({ signal }) => api.ask<TopicPurge>(withQuery(paths.topicPurge(cluster, topic), { dry_run: true }), {}, signal),
    staleTime: 0,
    refetchOnWindowFocus: false,
  })

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
