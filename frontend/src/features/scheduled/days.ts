import type { ScheduledSummary } from "@/lib/api-types"
import { parseWallClock, wallClock } from "@/lib/time"

export const DAYS = 14
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long until a moment, in whole seconds as they are counted down; 0 from then on. */
export const leftUntil = (at: string, now: number): number => Math.max(0, Math.ceil((Date.parse(at) - now) / 1_000) * 1_000)

/** Begin, end and count of a day or an hour, and the topic that makes most of it if it makes all. */
export interface Span {
  from: number
  to: number
  due: number
  onlyTopic: string | null
}

/** When the day of a moment begins in a zone. */
export const dayStart = (at: number, zone: string): number => parseWallClock(`${wallClock(at, zone).slice(0, 10)} 00:00:00`, zone) ?? at

/** The begins of the calendar's days, and the end of the last one; days of 23 and 25 hours included. */
export const dayBounds = (now: number, zone: string): number[] => {
  const first = dayStart(now, zone)
  return Array.from({ length: DAYS + 1 }, (_, day) => dayStart(first + day * DAY_MS + DAY_MS / 2, zone))
}

type Buckets = ScheduledSummary["buckets"]

/** What is due between each two neighbours of these bounds. */
export function spansOf(bounds: readonly number[], buckets: Buckets): Span[] {
  return bounds.slice(0, -1).map((from, place) => {
    const to = bounds[place + 1] ?? from
    const inside = buckets.filter((bucket) => from <= Date.parse(bucket.from) && Date.parse(bucket.from) < to)
    const topics = new Set(inside.map(({ topic }) => topic))
    return { from, to, due: inside.reduce((sum, { due }) => sum + due, 0), onlyTopic: topics.size === 1 ? ([...topics][0] ?? null) : null }
  })
}

/** The begins of a day's hours, and its end. */
export const hourBounds = ({ from, to }: Pick<Span, "from" | "to">): number[] => {
  const bounds = []
  for (let at = from; at < to; at += HOUR_MS) bounds.push(at)
  return [...bounds, to]
}
