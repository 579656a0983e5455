import type { UrlState } from "@/hooks/use-url-state"
import { isInstant } from "@/lib/time"
import type { OffsetBrowse } from "./api/browse-by-offset"
import type { TimeBrowse } from "./api/browse-by-time"
import type { KeysLookup } from "./api/look-up-keys"
import type { MessageAddress } from "./api/get-message"
import type { KeySearch } from "./api/search-messages"
import { conditionsOf, FilterFault, readFilter } from "./filter-text"
import type { TopicScan } from "./use-scan"

export const MODES = ["key", "keys", "id", "time", "offset", "content"] as const
export type Mode = (typeof MODES)[number]

export const SPANS = ["1h", "24h", "3d", "7d", "all", "custom"] as const
export type Span = (typeof SPANS)[number]

const HOUR_MS = 3_600_000
const SPAN_MS: Partial<Record<Span, number>> = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "3d": 72 * HOUR_MS, "7d": 168 * HOUR_MS }

export const modeOf = (state: UrlState): Mode => MODES.find((mode) => mode === state.mode) ?? "key"

/** How it is looked up: a key without a topic as many keys are, in all of them. */
export const lookupOf = (state: UrlState): Mode => (modeOf(state) === "key" && state.key && !state.topic ? "keys" : modeOf(state))

/** The keys of a search that is looked up as many keys are. */
export const wantedKeysOf = (state: UrlState): string[] => keysOf(modeOf(state) === "key" ? state.key : state.keys)

export function spanOf(state: UrlState): Span {
  if (state.from ?? state.to) return "custom"
  return SPANS.find((span) => span === state.span) ?? "3d"
}

/** From and to of the address as RFC 3339; a span is counted back from `now`. */
export function boundsOf(state: UrlState, now: number): { from?: string; to?: string } {
  const span = spanOf(state)
  if (span === "custom") return { ...(state.from && { from: state.from }), ...(state.to && { to: state.to }) }
  const ms = SPAN_MS[span]
  return ms === undefined ? {} : { from: new Date(now - ms).toISOString() }
}

export type RangeFault = "moment" | "reversed"

/** What is wrong with a range of one's own: a bound that is no moment, or an end that is not after the start. */
export function rangeFault({ from, to }: UrlState): RangeFault | null {
  if ((from && !isInstant(from)) || (to && !isInstant(to))) return "moment"
  return from && to && Date.parse(to) <= Date.parse(from) ? "reversed" : null
}

export function keySearchOf(state: UrlState, now: number): KeySearch | null {
  if (rangeFault(state) || modeOf(state) !== "key" || !state.key || !state.topic) return null
  return { topic: state.topic, key: state.key, ...boundsOf(state, now) }
}

export function timeBrowseOf(state: UrlState, now: number): TimeBrowse | null {
  if (rangeFault(state) || modeOf(state) !== "time" || !state.topic) return null
  return { topic: state.topic, ...(state.queue && { queue: state.queue }), ...boundsOf(state, now) }
}

export function offsetBrowseOf(state: UrlState): OffsetBrowse | null {
  if (modeOf(state) !== "offset" || !state.topic || !isCount(state.queue) || !isCount(state.offset)) return null
  return { topic: state.topic, queue: Number(state.queue), ...(state.broker && { broker: state.broker }), offset: Number(state.offset) }
}

/** Each key once, in order. */
export const keysOf = (text: string | undefined): string[] => [...new Set((text ?? "").split(/[\s,;]+/).filter(Boolean))]

export function keysLookupOf(state: UrlState, now: number): KeysLookup | null {
  const keys = wantedKeysOf(state)
  if (rangeFault(state) || lookupOf(state) !== "keys" || keys.length === 0) return null
  return { topic: state.topic ?? null, keys, ...boundsOf(state, now) }
}

export function scanOf(state: UrlState, now: number): TopicScan | null {
  if (rangeFault(state) || modeOf(state) !== "content" || !state.topic || filterFault(state.where)) return null
  return { topic: state.topic, where: state.where ?? "", ...boundsOf(state, now) }
}

/** What is wrong with the text of a filter. */
export function filterFault(text: string | undefined): FilterFault | null {
  try {
    conditionsOf(readFilter(text ?? ""))
    return null
  } catch (error) {
    if (error instanceof FilterFault) return error
    throw error
  }
}

export const isCount = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)

/** The API finds an id within a topic only. */
export const idSearchOf = (state: UrlState): MessageAddress | null =>
  modeOf(state) === "id" && state.id && state.topic ? { id: state.id, topic: state.topic } : null
