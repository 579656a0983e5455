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
const PATH = /^\$(?:\.?[A-Za-z_][\w-]*|\[(?:\d{1,9}|\*|"(?:[^"\\]|\\.)*")\])*/
const SIGN = /^(?:!=|>=|<=|=|>|<|~)/
const PROPERTY = /^([\w.-]+)\s*(!=|=|~)\s*(.*)$/
const ONCE = ["key", "text", "sql"] as const
const COMPARABLE = /^(?:".*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** What is wrong with a condition as it is typed: what it begins with, and from which character on. */
export interface ConditionFault {
  kind: "path" | "sign" | "value" | "number" | "twice"
  at: number
  what: string
}

interface FieldCondition {
  path: string
  sign?: string
  value?: string
}

/**
 * One condition as it is typed: `tag:paid,refunded`, `key:A17`, `sql:amount > 100`, `tenant = east` (a property),
 * `$.amount > 100` (a field of the body); anything else is text in the body. It changes `filter`.
 */
export function addCondition(filter: TailFilter, typed: string): TailFilter {
  const text = typed.trim()
  if (text.startsWith("tag:")) return { ...filter, tags: [...(filter.tags ?? []), ...tagsOf(text)] }
  if (text.startsWith("key:")) return { ...filter, key: text.slice(4).trim() }
  if (isSql(text)) return { ...filter, sql: text.slice(4).trim() }
  const field = readField(text)
  if (field && !("kind" in field)) return { ...filter, fields: [...(filter.fields ?? []), fieldOf(field)] }
  const property = PROPERTY.exec(text)
  if (property) {
    const [, name = "", sign = "", value = ""] = property
    return { ...filter, properties: [...(filter.properties ?? []), { name, operator: operatorOf(sign), value: unquoted(value) }] }
  }
  return { ...filter, text: unquoted(text) }
}

/** Only the server compiles it. */
export const isSql = (typed: string): boolean => typed.startsWith("sql:")
const tagsOf = (text: string): string[] => text.slice(4).split(",").map((tag) => tag.trim()).filter(Boolean)

/** Why a condition cannot be added to others: no message could pass it, or it would take the place of one of them. */
export function conditionFault(typed: string, others: readonly string[] = []): ConditionFault | null {
  const text = typed.trim()
  const end = { at: text.length, what: "" }
  if (text.startsWith("tag:")) return tagsOf(text).length === 0 ? { kind: "value", ...end } : null
  const field = readField(text)
  if (field) return "kind" in field ? field : null
  const property = isSql(text) ? null : PROPERTY.exec(text)
  if (property) return property[3] === "" ? { kind: "value", ...end } : null
  if (text === "key:" || text === "sql:") return { kind: "value", ...end }
  const [own, known] = [addCondition({}, text), filterOf(others)]
  return ONCE.some((name) => own[name] !== undefined && known[name] !== undefined) ? { kind: "twice", at: 0, what: text } : null
}

/** The first fault of conditions, and whose it is. */
export function firstFault(conditions: readonly string[]): (ConditionFault & { condition: string }) | null {
  for (const [index, condition] of conditions.entries()) {
    const fault = conditionFault(condition, conditions.slice(0, index))
    if (fault) return { ...fault, condition }
  }
  return null
}

/** A condition on a field of the body, or what is wrong with it; null for what is none, such as `$100`. */
function readField(text: string): FieldCondition | ConditionFault | null {
  const path = PATH.exec(text)?.[0]
  if (path === undefined) return null
  const rest = text.slice(path.length).trimStart()
  const place = text.length - rest.length
  const sign = SIGN.exec(rest)?.[0]
  if (sign === undefined && rest !== "" && !/^\$[.[]/.test(text)) return null
  if (rest === "") return { path }
  if (sign === undefined) return { kind: place === path.length ? "path" : "sign", at: place, what: rest.slice(0, 20) }
  const value = rest.slice(sign.length).trim()
  if (value === "") return { kind: "value", at: text.length, what: "" }
  if (/[<>]/.test(sign) && !COMPARABLE.test(value)) return { kind: "number", at: text.length - value.length, what: value }
  return { path, sign, value }
}

export const filterOf = (conditions: readonly string[]): TailFilter => conditions.reduce(addCondition, {})

function fieldOf({ path, sign, value }: FieldCondition): NonNullable<TailFilter["fields"]>[number] {
  if (sign === undefined || value === undefined) return { path, operator: "exists" }
  return { path, operator: operatorOf(sign), value: valueOf(value) }
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
