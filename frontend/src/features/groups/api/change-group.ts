import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { PartlyDeleted, GroupChange, GroupChanged, GroupInput } from "@/lib/api-types"
import { groupKeys } from "./keys"

export function useCreateGroup(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: GroupInput) => api.post<GroupChanged>(paths.groups(cluster), input),
    onSuccess: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}

export function useUpdateGroup(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (change: GroupChange) => api.patch<GroupChanged>(paths.group(cluster, group), change),
    onSuccess: (known) => cache.setQueryData(groupKeys.one(cluster, group), known),
    // It may have changed meanwhile.
    onError: () => cache.invalidateQueries({ queryKey: groupKeys.one(cluster, group) }),
  })
}

export function useDeleteGroup(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete<PartlyDeleted | undefined>(paths.group(cluster, group)),
    onSuccess: () => cache.invalidateQueries({ queryKey: groupKeys.lists(cluster) }),
    onError: () => cache.invalidateQueries({ queryKey: groupKeys.one(cluster, group) }),
  })
}
