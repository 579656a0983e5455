import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { BrokerAccounts } from "@/lib/api-types"
import { accountKeys } from "./keys"

async function getAccounts(cluster: string, signal: AbortSignal): Promise<BrokerAccounts> {
  const found = await api.get<BrokerAccounts>(paths.brokerAccounts(cluster), undefined, signal)
  keepTags(found.items, ({ access_key: key }) => paths.brokerAccount(cluster, key))
  return found
}

/** The accounts as every broker lists them; they change rarely, and by hand. */
export const useBrokerAccounts = (cluster: string) =>
  useQuery({ queryKey: accountKeys.all(cluster), queryFn: ({ signal }) => getAccounts(cluster, signal) })
