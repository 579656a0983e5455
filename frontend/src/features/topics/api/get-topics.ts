import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveRows } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Page, TopicSummary } from "@/lib/api-types"
import { topicKeys } from "./keys"

export interface TopicsFilter {
  search?: string | undefined
  kind: string
  sort: string
  message_type?: string | undefined
}

const PAGE_SIZE = 100
const REFRESH_MS = 15_000

const getTopics = (cluster: string, filter: TopicsFilter, cursor: string | null, signal: AbortSignal) =>
  api.get<Page<TopicSummary>>(paths.topics(cluster), { ...filter, cursor, limit: PAGE_SIZE }, signal)

/** Topics page by page; their order is read again now and then, their numbers move by the live rates. */
export const useTopics = (cluster: string, filter: TopicsFilter) =>
  useInfiniteQuery({
    queryKey: topicKeys.list(cluster, filter),
    queryFn: ({ pageParam, signal }) => getTopics(cluster, filter, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

type TopicRates = Partial<TopicSummary> & { name: string }

/** The newest rates of the topics in view, from the live channel; empty until the first event. */
export const useTopicRates = (cluster: string, inView: readonly string[]) => useLiveRows<TopicRates>(subjects.topics(cluster), inView)
