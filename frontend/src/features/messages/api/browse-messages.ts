import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrowseAnswer, QueuePage } from "@/lib/api-types"

export interface TimeBrowse {
  topic: string
  from?: string | undefined
  to?: string | undefined
  queue?: string | undefined
}

/** The messages of a topic by store time, newest first. */
export const useBrowseByTime = (cluster: string, browse: TimeBrowse | null, limit = 50) =>
  useInfiniteQuery({
    queryKey: ["messages", cluster, "time", browse, limit],
    queryFn: ({ pageParam, signal }) => {
      const { topic, ...range } = browse ?? { topic: "" }
      return api.get<BrowseAnswer>(paths.topicMessages(cluster, topic), { ...range, limit, cursor: pageParam }, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: browse !== null,
  })

export interface OffsetBrowse {
  topic: string
  queue: number
  offset: number
}

const PAGE_SIZE = 32

/** The messages of one queue from an offset on. */
export const useBrowseByOffset = (cluster: string, browse: OffsetBrowse | null) =>
  useQuery({
    queryKey: ["messages", cluster, "offset", browse],
    queryFn: ({ signal }) => {
      const { topic, queue, offset } = browse ?? { topic: "", queue: 0, offset: 0 }
      return api.get<QueuePage>(paths.queueMessages(cluster, topic, queue), { offset, limit: PAGE_SIZE }, signal)
    },
    enabled: browse !== null,
  })
