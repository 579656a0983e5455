/** The parts of an OpenAPI 3.1 document that the page reads. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  nullable?: boolean
  readOnly?: boolean
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  minimum?: number
  maximum?: number
  maxLength?: number
}

export interface Parameter {
  name: string
  in: "path" | "query" | "header" | "cookie"
  required?: boolean
  description?: string
  schema?: Schema
}

type Content = Record<string, { schema?: Schema; example?: unknown }>

interface Described {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { description?: string; content?: Content }>
}

export interface ApiDocument {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

export interface Operation {
  id: string
  method: string
  path: string
  tag: string
  summary: string
  description: string
  parameters: Parameter[]
  body: Schema | null
  /** A body to begin with: what the operation needs, and nothing else. */
  example: unknown
  answers: { status: string; schema: Schema | null }[]
}

const METHODS = ["get", "post", "put", "patch", "delete"]
const JSON_TYPES = ["application/json", "application/problem+json", "application/x-ndjson"]

/** Every operation of the document, in its order. */
export function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, described]) =>
    Object.entries(described)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, each]) => operationOf(method, path, each)),
  )
}

function operationOf(method: string, path: string, each: Described): Operation {
  const summary = each.summary ?? each.operationId
  const description = each.description ?? ""
  return {
    id: each.operationId,
    method: method.toUpperCase(),
    path,
    tag: each.tags?.[0] ?? "",
    summary,
    description: description === summary ? "" : description,
    parameters: each.parameters ?? [],
    body: schemaOf(each.requestBody?.content),
    example: each.requestBody?.content["application/json"]?.example,
    answers: Object.entries(each.responses).map(([status, { content }]) => ({ status, schema: schemaOf(content) })),
  }
}

function schemaOf(content: Content | undefined): Schema | null {
  const type = JSON_TYPES.find((known) => content?.[known])
  return (type && content?.[type]?.schema) || null
}

/** The operations that have all words in their name, method, path or summary. */
export function matching(operations: Operation[], words: string): Operation[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter(({ id, method, path, summary }) => {
    const text = `${id} ${method} ${path} ${summary}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
