/** A condition of a scan: the JSON of its value is kept as it was typed, because numbers may be longer than a double. */
export interface TextCondition {
  field: string
  operator: string
  value?: string
}

export interface Conditions {
  tags?: string[]
  key?: string
  text?: string
  properties: { name: string; operator: string; value?: string }[]
  fields: { path: string; operator: string; value?: string }[]
}

export type FilterFaultKind = "field" | "operator" | "value" | "number" | "and" | "takes" | "twice"

export class FilterFault extends Error {
  constructor(
    readonly kind: FilterFaultKind,
    readonly at: number,
    readonly what: string,
  ) {
    super(kind)
  }
}

const FIELD = /tag\b|key\b|body\b|property(?:\.[\w%-]+|\["(?:[^"\\]|\\.)*"\])|\$(?:\.[A-Za-z_][\w-]*|\[(?:\d{1,9}|\*|"(?:[^"\\]|\\.)*")\])+/y
const OPERATOR = /!=|<=|>=|=|<|>|(?:contains|starts_with|in|exists|missing)\b/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const LIST = /\[[^\]]*\]/y
const WORD = /[^\s"]+/y
const AND = /and\b/y
const SPACE = /\s*/y
const LITERAL = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const ORDERING: ReadonlySet<string> = new Set(["<", "<=", ">", ">="])

/** What is greater or less than something else: a number, or a text in quotes. */
export const isComparable = (value: string): boolean => value.startsWith('"') || NUMBER.test(value)

const WIRE: Record<string, string> = {
  "=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", contains: "contains", starts_with: "prefix", exists: "exists", missing: "absent",
}
const OF_TEXTS = ["=", "!=", "contains", "starts_with", "exists", "missing"]
const TAKES: Record<string, string[]> = { tag: ["=", "in"], key: ["="], body: ["contains"] }

/** Reads `tag = paid and $.amount >= 1000`; throws a FilterFault that names the place. */
export function readFilter(text: string): TextCondition[] {
  let at = 0
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (!found) return null
    at = pattern.lastIndex
    SPACE.lastIndex = at
    SPACE.exec(text)
    at = SPACE.lastIndex
    return found[0]
  }
  const conditions: TextCondition[] = []
  take(SPACE)
  while (at < text.length || conditions.length > 0) {
    conditions.push(condition())
    if (at >= text.length) break
    if (take(AND) === null) throw new FilterFault("and", at, rest())
  }
  return conditions

  function condition(): TextCondition {
    const field = take(FIELD) ?? fail("field")
    const operator = take(OPERATOR) ?? fail("operator")
    if (operator === "exists" || operator === "missing") return { field, operator }
    const place = at
    const value = (operator === "in" ? take(LIST) : (take(STRING) ?? take(WORD))) ?? fail("value")
    if (field.startsWith("$") && ORDERING.has(operator) && !isComparable(value)) throw new FilterFault("number", place, value)
    return { field, operator, value }
  }

  function fail(kind: FilterFaultKind): never {
    throw new FilterFault(kind, at, rest())
  }

  function rest(): string {
    return text.slice(at, at + 20)
  }
}

/** The conditions as a scan takes them; throws a FilterFault for one that it does not take. */
export function conditionsOf(read: readonly TextCondition[]): Conditions {
  const found: Conditions = { properties: [], fields: [] }
  for (const each of read) {
    const kind = /^[a-z]+/.exec(each.field)?.[0] ?? "$"
    const allowed = kind === "property" ? OF_TEXTS : (TAKES[kind] ?? Object.keys(WIRE))
    if (!allowed.includes(each.operator)) throw new FilterFault("takes", 0, `${each.field} ${each.operator}`)
    if (kind === "$") found.fields.push({ path: each.field, operator: wire(each), ...valued(each.operator === "starts_with" ? JSON.stringify(plain(each.value)) : json(each.value)) })
    else if (kind === "property") found.properties.push({ name: nameOf(each.field), operator: wire(each), ...valued(plain(each.value)) })
    else once(found, kind, each)
  }
  return found
}

function once(found: Conditions, kind: string, each: TextCondition) {
  const name = { tag: "tags", key: "key", body: "text" }[kind] as "tags" | "key" | "text"
  if (found[name] !== undefined) throw new FilterFault("twice", 0, each.field)
  if (name === "tags") found.tags = each.operator === "in" ? listOf(each.value) : [plain(each.value) ?? ""]
  else found[name] = plain(each.value) ?? ""
}

const wire = ({ operator }: TextCondition): string => WIRE[operator] ?? operator
const valued = (value: string | undefined) => (value === undefined ? {} : { value })
const plain = (value: string | undefined): string | undefined => (value?.startsWith('"') ? (JSON.parse(value) as string) : value)
const json = (value: string | undefined): string | undefined =>
  value === undefined || LITERAL.test(value) || value.startsWith('"') ? value : JSON.stringify(value)
const nameOf = (field: string): string =>
  field.startsWith("property.") ? field.slice("property.".length) : (JSON.parse(field.slice("property[".length, -1)) as string)
const listOf = (value = "[]"): string[] =>
  value
    .slice(1, -1)
    .split(",")
    .map((each) => plain(each.trim()) ?? "")
    .filter(Boolean)

/** The body of a scan as text: values of JSON fields stand in it as they were typed. */
export function scanBody(conditions: Conditions, rest: Record<string, unknown>): string {
  const { fields, properties, ...plainOnes } = conditions
  const text = JSON.stringify({ ...rest, ...plainOnes, ...(properties.length > 0 && { properties }) })
  if (fields.length === 0) return text
  const shown = fields.map(
    ({ path, operator, value }) =>
      `{"path":${JSON.stringify(path)},"operator":"${operator}"${value === undefined ? "" : `,"value":${value}`}}`,
  )
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}"fields":[${shown.join(",")}]}`
}
