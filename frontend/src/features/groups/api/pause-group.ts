import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupChanged } from "@/lib/api-types"
import { groupKeys } from "./keys"

export const usePauseGroup = (cluster: string, group: string) => useSwitch(cluster, group, paths.groupPause(cluster, group))

export const useResumeGroup = (cluster: string, group: string) => useSwitch(cluster, group, paths.groupResume(cluster, group))

function useSwitch(cluster: string, group: string, path: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<GroupChanged>(path),
    onSuccess: (known) => cache.setQueryData(groupKeys.one(cluster, group), known),
    // It may have changed meanwhile.
    onError: () => cache.invalidateQueries({ queryKey: groupKeys.one(cluster, group) }),
  })
}
