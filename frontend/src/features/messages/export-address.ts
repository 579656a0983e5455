import { paths } from "@/config/paths"
import type { UrlState } from "@/hooks/use-url-state"
import { type Query, withQuery } from "@/lib/api-client"
import { keySearchOf, scanOf, timeBrowseOf } from "./search-state"

export const FORMS = ["csv", "jsonl"] as const
export type Form = (typeof FORMS)[number]

/** Where the server writes what the address finds as a file; null for a search that is no list of any length. */
export function exportAddress(cluster: string, state: UrlState, now: number): ((form: Form, bodies: boolean) => string) | null {
  const found = place(cluster, state, now)
  return found && ((form, bodies) => withQuery(found.path, { ...found.query, as: form, ...(bodies && { bodies }) }))
}

function place(cluster: string, state: UrlState, now: number): { path: string; query: Query } | null {
  const key = keySearchOf(state, now)
  if (key) return { path: paths.messagesExport(cluster), query: { ...key } }
  const time = timeBrowseOf(state, now)
  if (time) {
    const { topic, ...query } = time
    return { path: paths.topicExport(cluster, topic), query }
  }
  const scan = scanOf(state, now)
  if (!scan) return null
  const { topic, where, ...range } = scan
  return { path: paths.topicExport(cluster, topic), query: { ...range, filter: where } }
}
