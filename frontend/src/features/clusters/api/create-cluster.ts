import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Cluster, ClusterInput } from "@/lib/api-types"

export function useCreateCluster() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: ClusterInput) => api.post<Cluster>(paths.clusters, input),
    onSuccess: () => cache.invalidateQueries({ queryKey: ["clusters"] }),
  })
}
