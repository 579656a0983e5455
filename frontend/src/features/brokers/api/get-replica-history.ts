import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaHistory } from "@/lib/api-types"
import { replicasKey } from "./get-replicas"

const EVERY_MS = 5_000
const SHOWN = 20

const getReplicaHistory = (cluster: string, broker: string, signal: AbortSignal) =>
  api.get<ReplicaHistory>(paths.replicaHistory(cluster, broker), { limit: SHOWN }, signal)

/** The last decisions of controllers about a broker name. */
export const useReplicaHistory = (cluster: string, broker: string) =>
  useQuery({
    queryKey: [...replicasKey(cluster, broker), "history"],
    queryFn: ({ signal }) => getReplicaHistory(cluster, broker, signal),
    refetchInterval: EVERY_MS,
  })
