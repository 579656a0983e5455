import type { Operator, TailFilter } from "./frames"

const SIGNS: [string, Operator][] = [
  ["!=", "ne"],
  [">=", "ge"],
  ["<=", "le"],
  ["=", "eq"],
  [">", "gt"],
  ["<", "lt"],
  ["~", "contains"],
]
const FIELD = /^(\$[^\s=!<>~]*)\s*(?:(!=|>=|<=|=|>|<|~)\s*(.+))?$/
const PROPERTY = /^([\w.-]+)\s*(!=|=|~)\s*(.+)$/

/**
 * One condition as it is typed: `tag:paid,refunded`, `key:A17`, `tenant = east` (a property), `$.amount > 100` (a field
 * of the body); anything else is text in the body. It changes `filter`.
 */
export function addCondition(filter: TailFilter, typed: string): TailFilter {
  const text = typed.trim()
  if (text.startsWith("tag:")) return { ...filter, tags: [...(filter.tags ?? []), ...text.slice(4).split(",").map((tag) => tag.trim()).filter(Boolean)] }
  if (text.startsWith("key:")) return { ...filter, key: text.slice(4).trim() }
  const field = FIELD.exec(text)
  if (field) return { ...filter, fields: [...(filter.fields ?? []), fieldOf(field)] }
  const property = PROPERTY.exec(text)
  if (property) {
    const [, name = "", sign = "", value = ""] = property
    return { ...filter, properties: [...(filter.properties ?? []), { name, operator: operatorOf(sign), value: unquoted(value) }] }
  }
  return { ...filter, text: unquoted(text) }
}

/** What is compared by `<` or `>` though it is neither a number nor a text in quotes; null where nothing is. */
export function incomparable(typed: string): string | null {
  const [, , sign = "", value = ""] = FIELD.exec(typed.trim()) ?? []
  return /[<>]/.test(sign) && !/^(".*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(value.trim()) ? value.trim() : null
}

export const filterOf = (conditions: readonly string[]): TailFilter => conditions.reduce(addCondition, {})

function fieldOf([, path = "", sign, value]: RegExpExecArray): NonNullable<TailFilter["fields"]>[number] {
  if (sign === undefined || value === undefined) return { path, operator: "exists" }
  return { path, operator: operatorOf(sign), value: valueOf(value.trim()) }
}

const operatorOf = (sign: string): Operator => SIGNS.find(([known]) => known === sign)?.[1] ?? "eq"

/** A number, true, false or null as such; anything else is text, with or without quotes. */
function valueOf(text: string): string | number | boolean | null {
  try {
    const value = JSON.parse(text) as unknown
    return value === null || ["string", "number", "boolean"].includes(typeof value) ? (value as string | number | boolean | null) : text
  } catch {
    return text
  }
}

const unquoted = (text: string): string => (/^".*"$/.test(text.trim()) ? text.trim().slice(1, -1) : text.trim())

/** Conditions as the address keeps them, one a line. */
export const readConditions = (text: string | undefined): string[] => (text ?? "").split("\n").filter(Boolean)
export const writeConditions = (conditions: readonly string[]): string | undefined => conditions.join("\n") || undefined
