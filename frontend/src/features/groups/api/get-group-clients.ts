import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupClients } from "@/lib/api-types"
import { groupKeys } from "./keys"

export const useGroupClients = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "clients"),
    queryFn: ({ signal }) => api.get<GroupClients>(paths.groupClients(cluster, group), undefined, signal),
    refetchInterval: POLL_MS,
  })
