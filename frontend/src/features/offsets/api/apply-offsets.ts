import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OffsetApply, OffsetsMoved } from "@/lib/api-types"
import { offsetKeys } from "./keys"

export function useApplyOffsets(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (wanted: OffsetApply) => api.post<OffsetsMoved>(paths.offsetsApply(cluster, group), wanted),
    onSettled: () => cache.invalidateQueries({ queryKey: offsetKeys.snapshots(cluster, group) }),
  })
}
