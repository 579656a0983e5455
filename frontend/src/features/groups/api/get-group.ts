import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Group } from "@/lib/api-types"
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
