import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { PauseInput, QueueChanges } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Stops delivery, sends, or both. */
export function usePauseTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (stop: NonNullable<PauseInput["stop"]>) => api.post<QueueChanges>(paths.topicPause(cluster, topic), { stop }),
    onSettled: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}
