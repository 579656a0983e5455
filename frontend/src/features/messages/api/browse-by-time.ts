import { useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { BrowseAnswer } from "@/lib/api-types"

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
