import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerQueueChange, QueueChanges } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Changes queue counts and permission on some brokers. */
export function useUpdateQueues(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (brokers: BrokerQueueChange[]) => api.patch<QueueChanges>(paths.topicQueues(cluster, topic), { brokers }),
    // Also when it was refused: it may have changed meanwhile.
    onSettled: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}
