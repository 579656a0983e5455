const GUARDED = /^[=+\-@\t\r']/
const QUOTED = /[",\r\n]|^\s|\s$|^$/
const MARK = "\ufeff"

/**
 * CSV as of RFC 4180, one line for each object, one column for each field that any of them has: the fields of inner
 * objects are `outer.inner`, lists are JSON. What is not known (null) is an empty field, empty text is `""`. Text that
 * a spreadsheet would run as a formula gets an apostrophe in front, and so does text that begins with one, so that one
 * rule leads back. Text with U+0000, at which many readers cut, is JSON behind an apostrophe. A byte order mark tells spreadsheets that it is UTF-8.
 */
export function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => flattened(row))
  const names = [...new Set(flat.flatMap((row) => [...row.keys()]))]
  const lines = flat.map((row) => names.map((name) => field(row.get(name))).join(","))
  return `${MARK}${[names.map(field).join(","), ...lines].join("\r\n")}\r\n`
}

function flattened(row: object, prefix = "", into = new Map<string, unknown>()): Map<string, unknown> {
  for (const [name, value] of Object.entries(row)) {
    if (isRecord(value)) flattened(value, `${prefix}${name}.`, into)
    else if (typeof value !== "function") into.set(prefix + name, value)
  }
  return into
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function field(value: unknown): string {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return quoted(Array.isArray(value) ? JSON.stringify(value) : String(value))
  if (value.includes("\0")) return quoted(`'${JSON.stringify(value)}`)
  return quoted(GUARDED.test(value) ? `'${value}` : value)
}

const quoted = (text: string) => (QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
