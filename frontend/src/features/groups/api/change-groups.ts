import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, asShownBy } from "@/lib/api-client"
import type { BulkGroups, GroupAction } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** Changes many groups as they were when the change was previewed. */
export function useChangeGroups(cluster: string, action: GroupAction) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (groups: string[]) =>
      api.post<BulkGroups>(paths.groupsChange(cluster, action), { groups }, asShownBy(paths.groupsRehearsal(cluster, action))),
    // Also when it was refused: they may have changed meanwhile.
    onSettled: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}
