import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TransactionChecked } from "@/lib/api-types"
import { transactionKeys } from "./keys"

/** Has the producers asked again, from the first check on. */
export function useCheckAgain(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.post<TransactionChecked>(paths.checkTransaction(cluster, id)),
    // Not waited for: with the answer the buttons go, and then nobody would say how it went.
    onSettled: () => void cache.invalidateQueries({ queryKey: transactionKeys.all }),
  })
}
