import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaChange, ReplicaPolicy } from "@/lib/api-types"

const keyOf = (cluster: string, broker: string) => ["clusters", cluster, "brokers", broker, "policy"] as const

/** What operators decided for a name, and by its tag which version a change is one of. */
export const useReplicaPolicy = (cluster: string, broker: string) =>
  useQuery({
    queryKey: keyOf(cluster, broker),
    queryFn: ({ signal }) => api.get<ReplicaPolicy>(paths.replicaPolicy(cluster, broker), undefined, signal),
    staleTime: 0,
    refetchOnWindowFocus: false,
  })

/** What the controller would do; nothing is changed. */
export const usePreviewPolicy = (cluster: string, broker: string) =>
  useMutation({
    mutationFn: (policy: ReplicaPolicy) => api.patch<ReplicaChange>(paths.replicaPolicy(cluster, broker), policy, { query: { dry_run: true } }),
  })

interface Planned {
  policy: ReplicaPolicy
  plan: string
}

/** Changes the policy that was read, as it was previewed; refused if somebody else changed it meanwhile. */
export function useChangePolicy(cluster: string, broker: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ policy, plan }: Planned) => api.patch<ReplicaChange>(paths.replicaPolicy(cluster, broker), policy, { query: { plan } }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["clusters", cluster] }),
  })
}
