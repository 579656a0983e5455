import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicNote } from "@/lib/api-types"
import { topicKeys } from "./keys"

export function useSetTopicNote(cluster: string, topic: string) {
  const cache = useQueryClient()
  const key = topicKeys.part(cluster, topic, "note")
  return useMutation({
    // The note that somebody began with: the one in the cache may have been read again since.
    mutationFn: ({ text, etag }: { text: string; etag: string }) =>
      api.put<TopicNote>(paths.topicNote(cluster, topic), { text }, { headers: { "If-Match": etag } }),
    onSuccess: (note) => cache.setQueryData(key, note),
    onError: () => cache.invalidateQueries({ queryKey: key }),
  })
}
