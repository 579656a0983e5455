import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaHistory } from "@/lib/api-types"
import { replicasKey } from "./get-replicas"

/** As often as the sampler looks. */
const EVERY_MS = 2_000
const SHOWN = 20

const getReplicaHistory = (cluster: string, broker: string, signal: AbortSignal) =>
  api.get<ReplicaHistory>(paths.replicaHistory(cluster, broker), { limit: SHOWN }, signal)

/** The last decisions of controllers about a broker name; asked for at once when the page shows another state. */
export const useReplicaHistory = (cluster: string, broker: string, shown: { epoch: number; version: number } | null) =>
  useQuery({
    queryKey: [...replicasKey(cluster, broker), "history", shown?.epoch, shown?.version],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => getReplicaHistory(cluster, broker, signal),
    refetchInterval: EVERY_MS,
  })
