import { useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Produced } from "@/lib/api-types"
import { topicKeys } from "./keys"

export const JSON_HEADERS = { "Content-Type": "application/json" }

/** Sends the text of a request over the HTTP data plane, as any program would. */
export const produce = (cluster: string, topic: string, request: string) =>
  api.post<Produced>(paths.topicMessages(cluster, topic), request, { headers: JSON_HEADERS })

/** Lets the pages of a topic read again what it holds. */
export function useProducedTo(cluster: string, topic: string) {
  const cache = useQueryClient()
  return () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: topicKeys.one(cluster, topic) }),
      cache.invalidateQueries({ queryKey: ["messages", cluster] }),
    ])
}
