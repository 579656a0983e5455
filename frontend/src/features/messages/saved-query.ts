import type { UrlState } from "@/hooks/use-url-state"
import type { SavedSearch, SavedSearchInput } from "@/lib/api-types"
import { keySearchOf, keysLookupOf, lookupOf, type Mode, offsetBrowseOf, idSearchOf, scanOf, spanOf, timeBrowseOf, wantedKeysOf } from "./search-state"

type Query = SavedSearchInput["query"]

const FIELDS: Record<Mode, readonly (keyof Query)[]> = {
  key: ["topic", "key"],
  keys: ["topic", "keys"],
  id: ["topic", "id"],
  time: ["topic", "queue"],
  offset: ["topic", "broker", "queue", "offset"],
  content: ["topic", "where"],
}
const WITHOUT_SPAN: readonly Mode[] = ["id", "offset"]

/** What of the address is the search, as it is saved; null until the search is whole. */
export function savedQueryOf(state: UrlState): Query | null {
  const mode = lookupOf(state)
  const isWhole = [keySearchOf(state, 0), keysLookupOf(state, 0), idSearchOf(state), timeBrowseOf(state, 0), offsetBrowseOf(state), scanOf(state, 0)].some((each) => each !== null)
  if (!isWhole) return null
  const names = WITHOUT_SPAN.includes(mode) ? FIELDS[mode] : [...FIELDS[mode], "from", "to"]
  const given = Object.fromEntries(names.map((name) => [name, name === "keys" ? wantedKeysOf(state).join(" ") : state[name]?.trim()]).filter(([, value]) => value))
  const span = spanOf(state)
  return { mode, ...given, ...(!WITHOUT_SPAN.includes(mode) && span !== "custom" && { span }) }
}

/** The address that runs a saved search. */
export const addressOf = ({ id, cluster, query }: SavedSearch, present: string): UrlState => ({
  ...query,
  ...(cluster !== present && { cluster }),
  saved: String(id),
})

export const isSameQuery = (one: Record<string, string>, other: Record<string, string>): boolean => {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => one[name] === other[name])
}
