import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupImpact } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** What a deletion would hit, as of now. */
export const useGroupImpact = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "impact"),
    queryFn: ({ signal }) => api.get<GroupImpact>(paths.groupImpact(cluster, group), undefined, signal),
    staleTime: 0,
  })
