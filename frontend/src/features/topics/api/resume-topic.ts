import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { QueueChanges } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Allows sends and delivery again. */
export function useResumeTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<QueueChanges>(paths.topicResume(cluster, topic)),
    onSettled: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}
