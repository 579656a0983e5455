import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TransactionRows } from "@/lib/api-types"
import { transactionKeys } from "./keys"

const A_PAGE = 50
const POLL_MS = 10_000

export interface Wanted {
  state: "open" | "given_up"
  topic?: string | undefined
  group?: string | undefined
  /** A key or a message id, in full. */
  key?: string | undefined
}

/** Open transactions, the oldest first, or those given up, the newest first. */
export const useTransactions = (cluster: string, wanted: Wanted) =>
  useInfiniteQuery({
    queryKey: transactionKeys.list(cluster, JSON.stringify(wanted)),
    queryFn: ({ pageParam, signal }) => api.get<TransactionRows>(paths.transactions(cluster), { ...wanted, limit: A_PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
