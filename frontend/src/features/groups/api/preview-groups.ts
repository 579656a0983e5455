import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BulkGroups, GroupAction } from "@/lib/api-types"

/** What a change of many groups would hit, group by group; its tag is kept for the change. */
export const useGroupsPreview = (cluster: string, action: GroupAction, groups: string[]) =>
  useQuery({
    // Not a part of the list, which is read again after a change.
    queryKey: ["groups-preview", cluster, action, groups],
    queryFn: ({ signal }) => api.ask<BulkGroups>(paths.groupsRehearsal(cluster, action), { groups }, signal),
    select: ({ items }) => items,
    staleTime: 0,
  })
