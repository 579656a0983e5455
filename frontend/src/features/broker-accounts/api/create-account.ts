import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrokerAccountChanged, BrokerAccountInput } from "@/lib/api-types"
import { accountKeys } from "./keys"

/** A secret that was made is in the answer, and nowhere else. */
export function useCreateAccount(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: BrokerAccountInput) => api.post<BrokerAccountChanged>(paths.brokerAccounts(cluster), input),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.all(cluster) }),
  })
}
