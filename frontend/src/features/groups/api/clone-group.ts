import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupCloned, GroupCloneInput } from "@/lib/api-types"
import { groupKeys } from "./keys"

export function useCloneGroup(cluster: string, source: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: GroupCloneInput) => api.post<GroupCloned>(paths.groupClone(cluster, source), input),
    onSuccess: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}
