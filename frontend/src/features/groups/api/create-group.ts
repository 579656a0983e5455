import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupChanged, GroupInput } from "@/lib/api-types"
import { groupKeys } from "./keys"

export function useCreateGroup(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: GroupInput) => api.post<GroupChanged>(paths.groups(cluster), input),
    onSuccess: () => cache.invalidateQueries({ queryKey: groupKeys.all(cluster) }),
  })
}
