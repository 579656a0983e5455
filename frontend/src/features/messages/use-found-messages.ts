import type { UrlState } from "@/hooks/use-url-state"
import type { MessageSearch, MessageSummary, MissingBroker, QueuePage } from "@/lib/api-types"
import { useBrowseByOffset } from "./api/browse-by-offset"
import { useBrowseByTime } from "./api/browse-by-time"
import { useMessage } from "./api/get-message"
import { useMessageSearch } from "./api/search-messages"
import { missingOf } from "./components/missing-brokers"
import { idSearchOf, keySearchOf, modeOf, offsetBrowseOf, timeBrowseOf } from "./search-state"

export interface FoundMessages {
  /** Absent until something was looked for and found or not found. */
  rows: MessageSummary[] | undefined
  /** The last page's verdict, in key mode. */
  answer: MessageSearch | undefined
  queuePage: QueuePage | undefined
  /** Brokers whose messages a list by time lacks; a search by key has its own in the verdict. */
  missing: MissingBroker[]
  error: unknown
  isAsked: boolean
  isBusy: boolean
  more: (() => void) | undefined
  retry: () => void
}

/** The rows of whatever the address asks for. */
export function useFoundMessages(cluster: string, state: UrlState, now: number): FoundMessages {
  const mode = modeOf(state)
  const search = useMessageSearch(cluster, keySearchOf(state, now))
  const time = useBrowseByTime(cluster, timeBrowseOf(state, now))
  const offset = useBrowseByOffset(cluster, offsetBrowseOf(state))
  const one = useMessage(cluster, idSearchOf(state))
  const query = { key: search, time, offset, id: one }[mode]
  const paged = mode === "key" ? search : time
  return {
    rows: rowsOf(),
    answer: mode === "key" ? search.data?.pages.at(-1) : undefined,
    queuePage: mode === "offset" ? offset.data : undefined,
    missing: mode === "time" ? missingOf(time.data?.pages) : [],
    error: query.error,
    isAsked: query.fetchStatus !== "idle" || query.data !== undefined || query.error !== null,
    isBusy: query.isFetching,
    more:
      (mode === "key" || mode === "time") && paged.hasNextPage && !paged.isFetchingNextPage ? () => void paged.fetchNextPage() : undefined,
    retry: () => void query.refetch(),
  }

  function rowsOf(): MessageSummary[] | undefined {
    if (mode === "key") return search.data?.pages.flatMap(({ items }) => items)
    if (mode === "time") return time.data?.pages.flatMap(({ items }) => items)
    if (mode === "offset") return offset.data?.items
    return one.data && [one.data]
  }
}
