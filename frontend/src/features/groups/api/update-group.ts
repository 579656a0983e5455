import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupChange, GroupChanged } from "@/lib/api-types"
import { groupKeys } from "./keys"

export function useUpdateGroup(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (change: GroupChange) => api.patch<GroupChanged>(paths.group(cluster, group), change),
    onSuccess: (known) => cache.setQueryData(groupKeys.one(cluster, group), known),
    // It may have changed meanwhile.
    onError: () => cache.invalidateQueries({ queryKey: groupKeys.one(cluster, group) }),
  })
}
