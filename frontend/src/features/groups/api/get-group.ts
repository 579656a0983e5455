import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { POLL_MS, useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Group, GroupClient, GroupSubscription, Items } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** One group, queue by queue: first by HTTP, then from the live channel each second. */
export function useGroup(cluster: string, group: string) {
  const queryKey = groupKeys.one(cluster, group)
  const refetchInterval = useLiveQuery(subjects.group(cluster, group), queryKey)
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Group>(paths.group(cluster, group), undefined, signal),
    refetchInterval,
  })
}

export const useGroupClients = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "clients"),
    queryFn: ({ signal }) => api.get<Items<GroupClient>>(paths.groupClients(cluster, group), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })

export const useGroupSubscriptions = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "subscriptions"),
    queryFn: ({ signal }) => api.get<Items<GroupSubscription>>(paths.groupSubscriptions(cluster, group), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
