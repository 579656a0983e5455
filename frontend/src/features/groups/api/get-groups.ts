import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveRows } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupSummary, Page } from "@/lib/api-types"
import { groupKeys } from "./keys"

export interface GroupsFilter {
  search?: string | undefined
  sort: string
}

const PAGE_SIZE = 100
const REFRESH_MS = 10_000

/** Until the first lags are known, they may come any moment. */
const UNMEASURED_MS = 3_000
const isUnmeasured = (items: readonly GroupSummary[]): boolean => items.length > 0 && items.every(({ lag }) => lag === null)

const getGroups = (cluster: string, filter: GroupsFilter, cursor: string | null, signal: AbortSignal) =>
  api.get<Page<GroupSummary>>(paths.groups(cluster), { ...filter, cursor, limit: PAGE_SIZE }, signal)

/** Groups page by page; their order is read again now and then, their numbers move by the live channel. */
export const useGroups = (cluster: string, filter: GroupsFilter) =>
  useInfiniteQuery({
    queryKey: groupKeys.list(cluster, filter),
    queryFn: ({ pageParam, signal }) => getGroups(cluster, filter, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isUnmeasured(state.data?.pages[0]?.items ?? []) ? UNMEASURED_MS : REFRESH_MS),
  })

/** The newest summaries of the groups in view, from the live channel; empty until the first event. */
export const useGroupStates = (cluster: string, inView: readonly string[]) => useLiveRows<GroupSummary>(subjects.groups(cluster), inView)
