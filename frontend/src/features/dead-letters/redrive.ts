import type { UrlState } from "@/hooks/use-url-state"
import type { DeadLetterCause, RedriveAsked, RedrivePreview } from "@/lib/api-types"
import { MOST_MINUTES } from "@/lib/job-limits"
import { isInstant } from "@/lib/time"
import { type Destination, DESTINATIONS, MOST_RATE, USUAL_RATE } from "./wish"

/** Whether a dry run could read none, because brokers did not answer: its zeros say nothing. */
export const isUnread = ({ missing, read }: Pick<RedrivePreview, "missing" | "read">): boolean => missing.length > 0 && read === 0

/** The most dead letters of one job, which is also the limit where none is asked for. */
export const MOST_MESSAGES = 100_000
export const ORIGINALS = ["until_consumed", "kept"] as const

export const originalsOf = ({ originals }: UrlState): (typeof ORIGINALS)[number] => (originals === "kept" ? "kept" : "until_consumed")

export const destinationOf = ({ send }: UrlState, usual: Destination): Destination => DESTINATIONS.find((known) => known === send) ?? usual

/** The causes of an address, as JSON; null stands for none given, and what cannot be read for no choice. */
export function causesIn(text: string | undefined): (string | null)[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]")
    return Array.isArray(found) ? found.filter((each): each is string | null => each === null || typeof each === "string") : []
  } catch {
    return []
  }
}

export const causesAs = (causes: readonly (string | null)[]): string | undefined => (causes.length > 0 ? JSON.stringify(causes) : undefined)

/** How many have each cause, wherever it was read from. */
export function countsOf(causes: readonly DeadLetterCause[]): Map<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const { reason, count } of causes) counts.set(reason, (counts.get(reason) ?? 0) + count)
  return counts
}

export const wordsOf = (text: string | undefined): string[] => (text ?? "").split(/[\s,]+/).filter(Boolean)

/** The redrive that the address describes; what was left empty is absent. */
export function redriveOf(state: UrlState, usual: Destination): RedriveAsked {
  const { key, from, to, topic, rate, max, minutes, allow } = state
  const [causes, topics, ids] = [causesIn(state.causes), wordsOf(state.origins), wordsOf(state.ids)]
  const destination = destinationOf(state, usual)
  return {
    filter: {
      ...(causes.length > 0 && { causes }),
      ...(topics.length > 0 && { topics }),
      ...(ids.length > 0 && { ids }),
      ...(key?.trim() && { key: key.trim() }),
      ...(from && { from }),
      ...(to && { to }),
    },
    target: destination === "other" ? { to: destination, topic: topic ?? "" } : { to: destination },
    limits: {
      messages_per_second: rate === undefined ? USUAL_RATE : Number(rate),
      ...(max !== undefined && { max_messages: Number(max) }),
      ...(minutes !== undefined && { max_minutes: Number(minutes) }),
    },
    ...(originalsOf(state) === "kept" && { originals: "kept" as const }),
    ...(allow === "yes" && destination !== "failed_group" && { allow_live_target: true }),
  }
}

const CHECKED = ["from", "to", "rate", "max", "minutes"] as const

/** The fields of the address whose values the server would refuse, of these. */
export function redriveFaults({ from, to, rate, max, minutes }: UrlState): ReadonlySet<(typeof CHECKED)[number]> {
  const isMoment = (bound: string | undefined) => bound === undefined || isInstant(bound)
  const isCount = (text: string | undefined, most: number) => text === undefined || (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most)
  const isReversed = from !== undefined && to !== undefined && isInstant(from) && isInstant(to) && Date.parse(from) >= Date.parse(to)
  const found = { from: !isMoment(from), to: !isMoment(to) || isReversed, rate: !isCount(rate, MOST_RATE), max: !isCount(max, MOST_MESSAGES), minutes: !isCount(minutes, MOST_MINUTES) }
  return new Set(CHECKED.filter((name) => found[name]))
}

/** Whether all is chosen that it needs, and nothing is wrong. */
export const isRedriveWhole = (state: UrlState, asked: RedriveAsked): boolean =>
  Boolean(state.group) && (asked.target.to !== "other" || Boolean(asked.target.topic)) && redriveFaults(state).size === 0
