import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, asShownBy } from "@/lib/api-client"
import type { PartlyDeleted } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Deletes the topic as it was when its impact was shown. */
export function useDeleteTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete<PartlyDeleted | undefined>(paths.topic(cluster, topic), asShownBy(paths.topicImpact(cluster, topic))),
    onSuccess: () => cache.invalidateQueries({ queryKey: topicKeys.lists(cluster) }),
    onError: () => cache.invalidateQueries({ queryKey: topicKeys.one(cluster, topic) }),
  })
}

/** Drops what was read of the topic: to be called once no page shows it any more. */
export function useForgetTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return () => cache.removeQueries({ queryKey: topicKeys.one(cluster, topic) })
}
