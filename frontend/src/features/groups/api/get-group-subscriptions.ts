import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupSubscriptions } from "@/lib/api-types"
import { groupKeys } from "./keys"

export const useGroupSubscriptions = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "subscriptions"),
    queryFn: ({ signal }) => api.get<GroupSubscriptions>(paths.groupSubscriptions(cluster, group), undefined, signal),
    refetchInterval: POLL_MS,
  })
