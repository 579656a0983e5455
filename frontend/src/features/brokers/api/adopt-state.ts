import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaChange } from "@/lib/api-types"

/** The replicas that have every acknowledged message, and the brokers' own name of their cluster. */
export interface Adoption {
  in_sync: number[]
  of_cluster: string
}

/** Goes on with these replicas, as it was previewed. */
export function useAdoptState(cluster: string, broker: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ plan, ...adoption }: Adoption & { plan: string }) => api.post<ReplicaChange>(paths.adoptReplicas(cluster, broker), adoption, { query: { plan } }),
    onSettled: () => Promise.all([cache.invalidateQueries({ queryKey: ["clusters", cluster] }), cache.invalidateQueries({ queryKey: ["audit"] })]),
  })
}
