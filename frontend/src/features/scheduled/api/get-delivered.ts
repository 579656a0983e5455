import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Message } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

/** A message that waited, as it was delivered to its topic; a 404 if it was not. */
export const useDelivered = (cluster: string, id: string, topic: string | undefined) =>
  useQuery({
    queryKey: scheduledKeys.delivered(cluster, id),
    queryFn: ({ signal }) => api.get<Message>(paths.message(cluster, id), { topic }, signal),
    enabled: topic !== undefined,
    retry: false,
  })
