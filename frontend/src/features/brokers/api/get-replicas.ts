import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Replicas } from "@/lib/api-types"

const EVERY_MS = 2_000

export const replicasKey = (cluster: string, broker: string) => ["clusters", cluster, "brokers", broker, "replicas"] as const

const getReplicas = (cluster: string, broker: string, signal: AbortSignal) =>
  api.get<Replicas>(paths.replicas(cluster, broker), undefined, signal)

/** The processes of a broker name, as the sampler tells them; asked again and again where it does not. */
export function useReplicas(cluster: string, broker: string) {
  const refetchInterval = useLiveQuery(subjects.replicas(cluster, broker), replicasKey(cluster, broker), EVERY_MS)
  return useQuery({
    queryKey: replicasKey(cluster, broker),
    queryFn: ({ signal }) => getReplicas(cluster, broker, signal),
    refetchInterval,
  })
}
