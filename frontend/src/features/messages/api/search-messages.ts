import { useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { MessageSearch } from "@/lib/api-types"

export interface KeySearch {
  topic: string
  key: string
  from?: string | undefined
  to?: string | undefined
}

const PAGE_SIZE = 64

const searchMessages = (cluster: string, search: KeySearch, cursor: string | null, signal: AbortSignal) =>
  api.get<MessageSearch>(paths.messageSearch(cluster), { ...search, cursor, limit: PAGE_SIZE }, signal)

/** Asks the index files for a key; runs once both key and topic are known. */
export const useMessageSearch = (cluster: string, search: KeySearch | null) =>
  useInfiniteQuery({
    queryKey: ["messages", cluster, "search", search],
    queryFn: ({ pageParam, signal }) => searchMessages(cluster, search ?? { topic: "", key: "" }, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: search !== null,
    staleTime: 30_000,
  })
