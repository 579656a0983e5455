import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, asShownBy } from "@/lib/api-client"
import type { PartlyDeleted } from "@/lib/api-types"
import { groupKeys } from "./keys"

/** Deletes the group as it was when its impact was shown. */
export function useDeleteGroup(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete<PartlyDeleted | undefined>(paths.group(cluster, group), asShownBy(paths.groupImpact(cluster, group))),
    onSuccess: () => cache.invalidateQueries({ queryKey: groupKeys.lists(cluster) }),
    onError: () => cache.invalidateQueries({ queryKey: groupKeys.one(cluster, group) }),
  })
}

/** Drops what was read of the group: to be called once no page shows it any more. */
export function useForgetGroup(cluster: string, group: string) {
  const cache = useQueryClient()
  return () => cache.removeQueries({ queryKey: groupKeys.one(cluster, group) })
}
