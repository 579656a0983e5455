import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaChange, ReplicaPolicy } from "@/lib/api-types"

interface Planned {
  policy: ReplicaPolicy
  plan: string
}

/** Changes the policy that was read, as it was previewed; refused if somebody else changed it meanwhile. */
export function useChangePolicy(cluster: string, broker: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ policy, plan }: Planned) => api.patch<ReplicaChange>(paths.replicaPolicy(cluster, broker), policy, { query: { plan } }),
    onSettled: () => Promise.all([cache.invalidateQueries({ queryKey: ["clusters", cluster] }), cache.invalidateQueries({ queryKey: ["audit"] })]),
  })
}
