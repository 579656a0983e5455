import type { UrlState } from "@/hooks/use-url-state"
import type { KeyLookup, MessageSearch, MessageSummary, MissingBroker, QueuePage, ReadFromSlave } from "@/lib/api-types"
import { useBrowseByOffset } from "./api/browse-by-offset"
import { useBrowseByTime } from "./api/browse-by-time"
import { useMessage } from "./api/get-message"
import { useKeysLookup } from "./api/look-up-keys"
import { useMessageSearch } from "./api/search-messages"
import { missingOf } from "./components/missing-brokers"
import { slavesOf } from "@/components/states/read-from-slaves"
import { idSearchOf, keySearchOf, keysLookupOf, lookupOf, offsetBrowseOf, scanOf, timeBrowseOf } from "./search-state"
import { type Scan, useScan } from "./use-scan"

export interface FoundMessages {
  /** Absent until something was looked for and found or not found. */
  rows: MessageSummary[] | undefined
  /** The last page's verdict, in key mode. */
  answer: MessageSearch | undefined
  queuePage: QueuePage | undefined
  /** The answer for many keys. */
  keys: KeyLookup | undefined
  /** How far a search of contents is. */
  scan: Scan | undefined
  /** Brokers whose messages a list by time lacks; a search by key has its own in the verdict. */
  missing: MissingBroker[]
  /** Slaves that were read because their masters are away. */
  fromSlaves: ReadFromSlave[]
  error: unknown
  isAsked: boolean
  isBusy: boolean
  more: (() => void) | undefined
  retry: () => void
}

/** The rows of whatever the address asks for. */
export function useFoundMessages(cluster: string, state: UrlState, now: number): FoundMessages {
  const mode = lookupOf(state)
  const search = useMessageSearch(cluster, keySearchOf(state, now))
  const time = useBrowseByTime(cluster, timeBrowseOf(state, now))
  const offset = useBrowseByOffset(cluster, offsetBrowseOf(state))
  const one = useMessage(cluster, idSearchOf(state))
  const many = useKeysLookup(cluster, keysLookupOf(state, now))
  const scan = useScan(cluster, scanOf(state, now))
  if (mode === "content") return ofScan(scan)
  const query = { key: search, keys: many, time, offset, id: one }[mode]
  const paged = mode === "key" ? search : time
  return {
    rows: rowsOf(),
    answer: mode === "key" ? search.data?.pages.at(-1) : undefined,
    queuePage: mode === "offset" ? offset.data : undefined,
    keys: mode === "keys" ? many.data : undefined,
    scan: undefined,
    missing: missing(),
    fromSlaves: fromSlaves(),
    error: query.error,
    isAsked: query.fetchStatus !== "idle" || query.data !== undefined || query.error !== null,
    isBusy: query.isFetching,
    more:
      (mode === "key" || mode === "time") && paged.hasNextPage && !paged.isFetchingNextPage ? () => void paged.fetchNextPage() : undefined,
    retry: () => void query.refetch(),
  }

  function missing(): MissingBroker[] {
    if (mode === "keys") return many.data?.missing_brokers ?? []
    return mode === "time" ? missingOf(time.data?.pages) : []
  }

  function fromSlaves(): ReadFromSlave[] {
    if (mode === "offset") return offset.data?.from_slave ? [offset.data.from_slave] : []
    if (mode === "id") return one.data?.from_slave ? [one.data.from_slave] : []
    return slavesOf(mode === "keys" ? many.data && [many.data] : paged.data?.pages)
  }

  function rowsOf(): MessageSummary[] | undefined {
    if (mode === "keys") return many.data?.found.flatMap(({ items }) => items)
    if (mode === "key") return search.data?.pages.flatMap(({ items }) => items)
    if (mode === "time") return time.data?.pages.flatMap(({ items }) => items)
    if (mode === "offset") return offset.data?.items
    return one.data && [one.data]
  }
}

const ofScan = (scan: Scan): FoundMessages => ({
  rows: scan.isAsked && (scan.rows.length > 0 || !scan.isRunning) && !scan.error ? scan.rows : scan.rows.length > 0 ? scan.rows : undefined,
  answer: undefined,
  queuePage: undefined,
  keys: undefined,
  scan: scan.isAsked ? scan : undefined,
  missing: scan.end?.missing ?? [],
  fromSlaves: slavesOf(scan.end ? [scan.end] : []),
  error: scan.error,
  isAsked: scan.isAsked,
  isBusy: scan.isRunning,
  more: undefined,
  retry: scan.restart,
})
