/** The report of a job, as its program wrote it; every part may be absent. */
export interface Report {
  tiles?: Partial<Record<Tile, number>>
  samples?: Sample[]
  /** The right that would show the values. */
  hidden?: "bodies"
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

export interface Place {
  queue_id: number
  queue_offset: number
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

/** The colour that a tile, a chart and the table share; matched has none. */
export const TILE_COLORS: Partial<Record<Tile, string>> = {
  missing_right: "var(--series-1)",
  different: "var(--series-2)",
  missing_left: "var(--series-3)",
  duplicate_right: "var(--series-4)",
  duplicate_left: "var(--series-5)",
}

/** How many messages differ in any way. */
export const differencesOf = ({ tiles = {} }: Report): number =>
  TILES.filter((tile) => tile !== "matched").reduce((sum, tile) => sum + (tiles[tile] ?? 0), 0)
