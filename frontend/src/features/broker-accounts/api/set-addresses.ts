import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GlobalAddressesChanged } from "@/lib/api-types"
import { accountKeys } from "./keys"

interface Addresses {
  global_white_addresses: string[]
  /** Of the addresses that somebody began with. */
  etag: string
}

export function useSetAddresses(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ etag, ...body }: Addresses) =>
      api.put<GlobalAddressesChanged>(paths.globalAddresses(cluster), body, { headers: { "If-Match": etag } }),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.all(cluster) }),
  })
}
