import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerSettings } from "@/lib/api-types"

export const settingsKey = (cluster: string, broker: string) => ["clusters", cluster, "brokers", broker, "config"] as const

const getBrokerSettings = (cluster: string, broker: string, signal: AbortSignal) =>
  api.get<BrokerSettings>(paths.brokerSettings(cluster, broker), undefined, signal)

/** What the broker itself says of its settings; they change rarely, and by hand. */
export const useBrokerSettings = (cluster: string, broker: string) =>
  useQuery({
    queryKey: settingsKey(cluster, broker),
    queryFn: ({ signal }) => getBrokerSettings(cluster, broker, signal),
  })
