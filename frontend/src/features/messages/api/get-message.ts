import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Items, Message, MessageDelivery } from "@/lib/api-types"

export interface MessageAddress {
  id: string
  topic?: string | undefined
}

export const useMessage = (cluster: string, address: MessageAddress | null) =>
  useQuery({
    queryKey: ["messages", cluster, "one", address],
    queryFn: ({ signal }) => api.get<Message>(paths.message(cluster, address?.id ?? ""), { topic: address?.topic }, signal),
    enabled: address !== null,
    staleTime: Infinity,
  })

/** Which groups have consumed it; this moves, so it is read again. */
export const useDeliveries = (cluster: string, { message_id, topic }: Message) =>
  useQuery({
    queryKey: ["messages", cluster, "deliveries", message_id, topic],
    queryFn: ({ signal }) => api.get<Items<MessageDelivery>>(paths.messageDeliveries(cluster, message_id), { topic }, signal),
    select: ({ items }) => items,
    refetchInterval: 5_000,
  })
