import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduledMessages } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

const A_PAGE = 50
const POLL_MS = 10_000

export interface Wanted {
  topic?: string | undefined
  key?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** What waits page by page, first what is due first. */
export const useScheduled = (cluster: string, wanted: Wanted) =>
  useInfiniteQuery({
    queryKey: scheduledKeys.list(cluster, JSON.stringify(wanted)),
    queryFn: ({ pageParam, signal }) => api.get<ScheduledMessages>(paths.scheduled(cluster), { ...wanted, limit: A_PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
