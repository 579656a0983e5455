import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerAccountChange, BrokerAccountChanged } from "@/lib/api-types"
import { accountKeys } from "./keys"

/** Changes the account that somebody began with: the one in the list may have been read again since. */
export function useUpdateAccount(cluster: string, key: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ etag, ...change }: BrokerAccountChange & { etag: string }) =>
      api.patch<BrokerAccountChanged>(paths.brokerAccount(cluster, key), change, { headers: { "If-Match": etag } }),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.all(cluster) }),
  })
}
