import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { EndedTransaction } from "@/lib/api-types"
import { transactionKeys } from "./keys"

export type Decision = "commit" | "rollback"

/** Commits a transaction or rolls it back, with the reason that the audit keeps. */
export function useDecide(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ id, decision, reason }: { id: string; decision: Decision; reason: string }) =>
      api.post<EndedTransaction>(paths.decideTransaction(cluster, id, decision), reason ? { reason } : {}),
    // Not waited for: with the answer the buttons go, and then nobody would say how it went.
    onSettled: () => void cache.invalidateQueries({ queryKey: transactionKeys.all }),
  })
}
