import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerQueueChange, QueueChanges } from "@/lib/api-types"

/** What a change of queue counts and permission would do; nothing is asked for no change. */
export const useQueuesPreview = (cluster: string, topic: string, brokers: BrokerQueueChange[]) =>
  useQuery({
    // Not a part of the topic, whose parts are read again after a change.
    queryKey: ["queues-preview", cluster, topic, brokers],
    queryFn: ({ signal }) => api.rehearse<QueueChanges>(paths.topicQueues(cluster, topic), { brokers }, signal),
    enabled: brokers.length > 0,
    select: ({ items }) => items,
  })
