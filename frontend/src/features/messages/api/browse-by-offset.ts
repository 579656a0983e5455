import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { QueuePage } from "@/lib/api-types"

export interface OffsetBrowse {
  topic: string
  queue: number
  /** Needed where several brokers have a queue of this number. */
  broker?: string
  offset: number
}

const PAGE_SIZE = 32

/** The messages of one queue from an offset on. */
export const useBrowseByOffset = (cluster: string, browse: OffsetBrowse | null) =>
  useQuery({
    queryKey: ["messages", cluster, "offset", browse],
    queryFn: ({ signal }) => {
      const { topic, queue, broker, offset }: OffsetBrowse = browse ?? { topic: "", queue: 0, offset: 0 }
      return api.get<QueuePage>(paths.queueMessages(cluster, topic, queue), { broker, offset, limit: PAGE_SIZE }, signal)
    },
    enabled: browse !== null,
  })
