export interface LogLine {
  at: string | null
  text: string
  isWarning: boolean
}

const LINE = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s+(.*)$/
const LEVEL = /^(?:INFO|DEBUG)\s+/
const WARNING = /\b(WARN|WARNING|ERROR|CRITICAL)\b/

/** Lines newest first; times are cut off so that they can be written in the chosen zone. */
export function linesOf(text: string, most = 500): LogLine[] {
  const lines = text.split("\n").filter(Boolean)
  return lines
    .slice(-most)
    .reverse()
    .map((line) => {
      const match = LINE.exec(line)
      const at = match?.[1]?.replace(" ", "T").replace(",", ".") ?? null
      return { at, text: (match?.[2] ?? line).replace(LEVEL, ""), isWarning: WARNING.test(line) }
    })
}
