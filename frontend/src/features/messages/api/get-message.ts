import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Message } from "@/lib/api-types"

export interface MessageAddress {
  id: string
  topic: string
}

export const useMessage = (cluster: string, address: MessageAddress | null) =>
  useQuery({
    queryKey: ["messages", cluster, "one", address],
    queryFn: ({ signal }) => api.get<Message>(paths.message(cluster, address?.id ?? ""), { topic: address?.topic }, signal),
    enabled: address !== null,
    staleTime: Infinity,
  })
