import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Cluster, ClusterChange } from "@/lib/api-types"

/** Changes the version of the cluster that was listed. */
export function useUpdateCluster({ name, etag }: Cluster) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (change: ClusterChange) => api.patch<Cluster>(paths.cluster(name), change, { headers: { "If-Match": etag } }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["clusters"] }),
  })
}
