export interface Change {
  field: string
  before: string
  after: string
}

const ABSENT = "—"

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const written = (value: unknown) => (value === undefined ? ABSENT : typeof value === "string" ? value : JSON.stringify(value))

/** The fields that differ between two states of a resource. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return fields
    .map((field) => ({ field, before: written(old[field]), after: written(now[field]) }))
    .filter((change) => change.before !== change.after)
}
