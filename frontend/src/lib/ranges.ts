import type { Range } from "@/lib/api-types"

export const RANGES: readonly Range[] = ["15m", "1h", "6h", "24h", "7d"]

export const RANGE_MS: Record<Range, number> = {
  "15m": 15 * 60_000,
  "1h": 3_600_000,
  "6h": 6 * 3_600_000,
  "24h": 24 * 3_600_000,
  "7d": 7 * 24 * 3_600_000,
}

export const rangeOf = (text: string | undefined, fallback: Range): Range =>
  RANGES.find((range) => range === text) ?? fallback
