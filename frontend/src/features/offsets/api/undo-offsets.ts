import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OffsetsMoved } from "@/lib/api-types"
import { offsetKeys } from "./keys"

export function useUndoOffsets(cluster: string, group: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (snapshot: string) => api.post<OffsetsMoved>(paths.offsetsUndo(cluster, group), { snapshot_id: snapshot }),
    onSettled: () => cache.invalidateQueries({ queryKey: offsetKeys.snapshots(cluster, group) }),
  })
}
