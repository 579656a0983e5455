import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TransactionDetail } from "@/lib/api-types"
import { transactionKeys } from "./keys"

const POLL_MS = 10_000

/** One transaction, with its message for those who may read it. */
export const useTransaction = (cluster: string, id: string) =>
  useQuery({
    queryKey: transactionKeys.one(cluster, id),
    queryFn: ({ signal }) => api.get<TransactionDetail>(paths.transaction(cluster, id), undefined, signal),
    refetchInterval: POLL_MS,
  })
