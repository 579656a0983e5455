import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Produced, ProduceMessage } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** Sends over the HTTP data plane, as any program would. */
export function useProduce(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (message: ProduceMessage) =>
      api.post<Produced>(paths.topicMessages(cluster, topic), { messages: [message] }),
    onSuccess: () =>
      Promise.all([
        cache.invalidateQueries({ queryKey: topicKeys.one(cluster, topic) }),
        cache.invalidateQueries({ queryKey: ["messages", cluster] }),
      ]),
  })
}
