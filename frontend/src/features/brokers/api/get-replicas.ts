import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Replicas } from "@/lib/api-types"

const EVERY_MS = 2_000

export const replicasKey = (cluster: string, broker: string) => ["clusters", cluster, "brokers", broker, "replicas"] as const

const getReplicas = (cluster: string, broker: string, signal: AbortSignal) =>
  api.get<Replicas>(paths.replicas(cluster, broker), undefined, signal)

/** The processes of a broker name, asked again and again while they are looked at. */
export const useReplicas = (cluster: string, broker: string) =>
  useQuery({
    queryKey: replicasKey(cluster, broker),
    queryFn: ({ signal }) => getReplicas(cluster, broker, signal),
    refetchInterval: EVERY_MS,
  })
