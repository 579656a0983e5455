import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

/** Removes the cluster from the console, in the version that was read. */
export function useDeleteCluster(name: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete(paths.cluster(name)),
    onError: () => void cache.invalidateQueries({ queryKey: ["clusters"] }),
    // Only the list is read again: the row, which leaves with it, would ask once more for a cluster that is gone.
    onSuccess: () => void cache.invalidateQueries({ queryKey: ["clusters"], exact: true }),
  })
}
