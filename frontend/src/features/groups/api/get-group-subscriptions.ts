import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupSubscription, Items } from "@/lib/api-types"
import { groupKeys } from "./keys"

export const useGroupSubscriptions = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "subscriptions"),
    queryFn: ({ signal }) => api.get<Items<GroupSubscription>>(paths.groupSubscriptions(cluster, group), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
