import type { JobForecastMessage } from "@/lib/api-types"

/** The report of a job, as its program wrote it; every part may be absent. */
export interface Report {
  tiles?: Partial<Record<Tile | "rows_left" | "rows_right", number>>
  samples?: Sample[]
  buckets?: Buckets
  queues?: QueueFigures[]
  /** Of the tags with the most differences. */
  tags?: Record<string, Classes>
  /** How many messages of the left side could be replayed to the right one. */
  missing_messages?: number
  /** Whether the CSV file holds every difference. */
  is_csv_whole?: boolean
  /** The right that would show the values. */
  hidden?: "bodies"
  /** Of a replay or an export: the messages that were refused, or could not be read. */
  failures?: { source: string; reason: string }[]
  damage?: (Place & { broker: string; topic: string; reason: string })[]
  /** Of a dry run: how many would be refused. */
  refused?: number | null
  /** How many of these its file names; absent where there is no such file. */
  left_out_listed?: number
}

export interface LeftOutMessage extends Place {
  name: string
  kind: "failed" | "damaged"
  topic: string
  reason: string
}

/** Every message that a report names as left out; a failure names its place as `broker/topic/queue/offset`. */
export function leftOutIn({ failures = [], damage = [] }: Report = {}): LeftOutMessage[] {
  const failed = failures.map(({ source, reason }) => {
    const [topic = "", queue, offset] = source.split("/").slice(-3)
    return { name: source, kind: "failed" as const, topic, queue_id: Number(queue), queue_offset: Number(offset), reason }
  })
  return [...failed, ...damage.map((each) => ({ ...each, name: `damaged ${each.broker}/${each.topic}/${each.queue_id}/${each.queue_offset}`, kind: "damaged" as const }))]
}

export const TILES = [
  "matched",
  "missing_right",
  "missing_left",
  "different",
  "duplicate_right",
  "duplicate_left",
  "duplicate",
  "reordered",
  "late",
  "keyless_left",
  "keyless_right",
  "damaged_left",
  "damaged_right",
] as const
export type Tile = (typeof TILES)[number]

export type Classes = Partial<Record<Tile, number>>

/** What a job would do, as a dry run found it. */
export interface Forecast {
  messages: number
  /** How many pass the filter, where a limit takes only some of them. */
  found: number
  damaged: number | null
  /** How many cannot be copied as they would be changed; null where nothing is changed. */
  refused?: number | null
  failures?: { source: string; reason: string }[]
  bytes: number | null
  /** By the hash of a tag another tag may count too: an upper bound. */
  counted_by?: "queues" | "tag_hashes" | "reading"
  first_at: string | null
  last_at: string | null
  estimated_ms: number
  estimated_by: "limit" | "usual_rate"
  queues: ForecastQueue[]
  first: JobForecastMessage[]
  last: JobForecastMessage[]
  hidden?: "bodies"
}

/** Whether what was counted may be more than what passes. */
export const isUpperBound = (forecast: Forecast | undefined): boolean => forecast?.counted_by === "tag_hashes"

export interface ForecastQueue {
  broker: string
  queue_id: number
  from: number
  to: number
  messages: number
  damaged: number | null
  bytes: number | null
  first_at: string | null
  last_at: string | null
}

/** The classes over time, by the moment of the first message of a key. */
export interface Buckets {
  size_ms: number
  /** Where the buckets that hold any begin, in ms since 1970. */
  times: number[]
  /** For each class that occurs its number in each bucket. */
  classes: Partial<Record<Tile, number[]>>
  without_time: Classes
}

export interface QueueFigures {
  side: "left" | "right"
  broker: string
  queue_id: number
  rows: number
  classes: Classes
}

/** Where a row of a side is: in a queue, or what its file or database calls it. */
export interface Place {
  queue_id: number | null
  queue_offset: number | null
  place?: string
}

export interface Sample {
  class: Tile
  key: string | null
  left: Place | null
  right: Place | null
  left_count: number
  right_count: number
  fields: string[]
  damage?: string | null
  /** What differs, as text of each side; absent where nothing does, or where it may not be seen. */
  values?: Record<string, { left: string | null; right: string | null }>
}

const TOKENS: Partial<Record<Tile, string>> = {
  missing_right: "--series-1",
  different: "--series-2",
  missing_left: "--series-3",
  duplicate_right: "--series-4",
  duplicate_left: "--series-5",
}

/** The colour that a tile, a chart and the table share: that of the others for a rare kind. */
export const tokenOf = (tile: Tile): string => TOKENS[tile] ?? "--series-6"

/** The kinds of difference that a report has, in the order of its tiles. */
export const kindsIn = (counts: Iterable<Classes>): Tile[] => {
  const all = [...counts]
  return TILES.filter((tile) => tile !== "matched" && all.some((each) => (each[tile] ?? 0) > 0))
}

const sumOf = (tiles: Classes, counts: (tile: Tile) => boolean): number => TILES.filter(counts).reduce((sum, tile) => sum + (tiles[tile] ?? 0), 0)

const isKeyless = (tile: Tile): boolean => tile === "keyless_left" || tile === "keyless_right"
const isDamaged = (tile: Tile): boolean => tile === "damaged_left" || tile === "damaged_right"

/** How many keys differ in any way, as the summary of the job says; what could not be compared is none of them. */
export const differencesOf = ({ tiles = {} }: { tiles?: Classes }): number => sumOf(tiles, (tile) => tile !== "matched" && !isKeyless(tile) && !isDamaged(tile))

/** How many rows the files of a report have: differences, and what is damaged; no row tells of messages without a key. */
export const listedOf = ({ tiles = {} }: Report): number => sumOf(tiles, (tile) => tile !== "matched" && !isKeyless(tile))

/** How many messages have no key, so that no other can be their match. */
export const keylessOf = ({ tiles = {} }: Report): number => sumOf(tiles, isKeyless)
