import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, shareTag } from "@/lib/api-client"
import type { GroupImpact } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** What a deletion would hit, as of now. */
export const useGroupImpact = (cluster: string, group: string) =>
  useQuery({
    queryKey: groupKeys.part(cluster, group, "impact"),
    queryFn: async ({ signal }) => {
      const path = paths.groupImpact(cluster, group)
      const impact = await api.get<GroupImpact>(path, undefined, signal)
      // The deletion is one of the group as it was when its impact was shown.
      shareTag(path, paths.group(cluster, group))
      return impact
    },
    staleTime: 0,
  })
