import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
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

/** What such a change would do; nothing is asked for no change. */
export const useQueuesPreview = (cluster: string, topic: string, brokers: BrokerQueueChange[]) =>
  useQuery({
    // Not a part of the topic, whose parts are read again after a change.
    queryKey: ["queues-preview", cluster, topic, brokers],
    queryFn: () => api.patch<QueueChanges>(paths.topicQueues(cluster, topic), { brokers }, { query: { dry_run: true } }),
    enabled: brokers.length > 0,
    select: ({ items }) => items,
  })
