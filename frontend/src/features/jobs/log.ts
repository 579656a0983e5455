export interface LogLine {
  /** Which line of the whole log it is, from 0. */
  number: number
  at: string | null
  text: string
  isWarning: boolean
}

const LINE = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s+(.*)$/
const LEVEL = /^(?:INFO|DEBUG)\s+/
const WARNING = /\b(WARN|WARNING|ERROR|CRITICAL)\b/

/** So many are shown; the rest is in the download. */
export const MOST_LINES = 500

/** The newest lines in the order of the log; times are cut off so that they can be written in the chosen zone. */
export function linesOf(text: string, most = MOST_LINES): LogLine[] {
  const lines = text.split("\n").filter(Boolean)
  const first = Math.max(0, lines.length - most)
  return lines.slice(first).map((line, index) => {
    const match = LINE.exec(line)
    const at = match?.[1]?.replace(" ", "T").replace(",", ".") ?? null
    return { number: first + index, at, text: (match?.[2] ?? line).replace(LEVEL, ""), isWarning: WARNING.test(line) }
  })
}

/** How large a log may become; what is beyond is left out. */
export const LIMIT_BYTES = 16 * 2 ** 20

const CUT = /^\[(?<bytes>[\d,]+) bytes of this log are left out: it may have (?<mib>[\d,]+) MiB\]$/m

/** How much of a log was left out, which the log itself says once its job has ended. */
export function cutOf(text: string): { bytes: number; mib: string } | null {
  const found = CUT.exec(text)?.groups
  return found ? { bytes: Number(found.bytes?.replaceAll(",", "")), mib: found.mib ?? "" } : null
}
