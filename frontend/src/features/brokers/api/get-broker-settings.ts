import { queryOptions, useQueries, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerSettings } from "@/lib/api-types"

const options = (cluster: string, broker: string, id: number) =>
  queryOptions({
    queryKey: ["clusters", cluster, "brokers", broker, "config", id] as const,
    queryFn: ({ signal }) => api.get<BrokerSettings>(paths.brokerSettings(cluster, broker, id), undefined, signal),
  })

/** What a replica itself says of its settings; they change rarely, and by hand. */
export const useBrokerSettings = (cluster: string, broker: string, id: number) => useQuery(options(cluster, broker, id))

/** What each of these replicas says; one that does not tell is left out. */
export function useSettingsOfReplicas(cluster: string, broker: string, ids: readonly number[]): BrokerSettings[] {
  const queries = useQueries({ queries: ids.map((id) => options(cluster, broker, id)) })
  return queries.flatMap(({ data }) => data ?? [])
}
