import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Items, Message, MessageDelivery } from "@/lib/api-types"

/** Which groups have consumed it; this moves, so it is read again. */
export const useDeliveries = (cluster: string, { message_id, topic }: Message) =>
  useQuery({
    queryKey: ["messages", cluster, "deliveries", message_id, topic],
    queryFn: ({ signal }) => api.get<Items<MessageDelivery>>(paths.messageDeliveries(cluster, message_id), { topic }, signal),
    select: ({ items }) => items,
    refetchInterval: 5_000,
  })
