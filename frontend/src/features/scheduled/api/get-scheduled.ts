import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduledMessages } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

const A_PAGE = 50
const POLL_MS = 10_000
const SOON_MS = 1_000

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
    refetchInterval: ({ state }) => pollAfter(state.data?.pages[0]?.items[0]?.due_at),
  })

/** A message is gone from the list as soon as its time has come, unless its broker is late. */
const pollAfter = (firstDueAt: string | undefined): number =>
  firstDueAt === undefined ? POLL_MS : Math.min(POLL_MS, Math.max(SOON_MS, Date.parse(firstDueAt) - Date.now() + SOON_MS))
