import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupClient, Items } from "@/lib/api-types"
import { groupKeys } from "./keys"

export const useGroupClients = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "clients"),
    queryFn: ({ signal }) => api.get<Items<GroupClient>>(paths.groupClients(cluster, group), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
