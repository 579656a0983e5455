import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

/** Removes the cluster from the console, in the version that was read. */
export function useDeleteCluster(name: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete(paths.cluster(name)),
    onSettled: () => void cache.invalidateQueries({ queryKey: ["clusters"] }),
  })
}
