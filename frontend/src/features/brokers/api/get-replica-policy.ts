import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaPolicy } from "@/lib/api-types"

const keyOf = (cluster: string, broker: string) => ["clusters", cluster, "brokers", broker, "policy"] as const

/** What operators decided for a name, and by its tag which version a change is one of. */
export const useReplicaPolicy = (cluster: string, broker: string) =>
  useQuery({
    queryKey: keyOf(cluster, broker),
    queryFn: ({ signal }) => api.get<ReplicaPolicy>(paths.replicaPolicy(cluster, broker), undefined, signal),
    staleTime: 0,
    refetchOnWindowFocus: false,
  })
