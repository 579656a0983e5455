import { env } from "@/config/env"
import { withQuery } from "@/lib/api-client"
import type { Operation, Parameter } from "./document"

/** What one fills in for a call. */
export interface Draft {
  values: Record<string, string>
  body: string
}

export interface Call {
  method: string
  path: string
  headers: Record<string, string>
  body: string | null
}

export const keyOf = ({ in: place, name }: Parameter) => `${place}:${name}`

/** The required parameters that are still empty. */
export const lackingOf = (operation: Operation, { values }: Draft): string[] =>
  operation.parameters.filter((each) => each.required && !values[keyOf(each)]).map(({ name }) => name)

/** The call as it goes out; a place of the path without a value keeps its braces. */
export function callOf(operation: Operation, { values, body }: Draft): Call {
  const given = operation.parameters.filter((each) => values[keyOf(each)])
  const valueOf = (each: Parameter) => values[keyOf(each)] ?? ""
  const of = (place: Parameter["in"]) => Object.fromEntries(given.filter((each) => each.in === place).map((each) => [each.name, valueOf(each)]))
  const places = of("path")
  const path = operation.path.replace(/\{(\w+)\}/g, (braces, name: string) => (places[name] ? encodeURIComponent(places[name]) : braces))
  const hasBody = operation.body !== null && body.trim() !== ""
  return {
    method: operation.method,
    path: withQuery(env.base + path, of("query")),
    headers: { ...(hasBody && { "Content-Type": "application/json" }), ...of("header") },
    body: hasBody ? body : null,
  }
}

export const addressOf = ({ path }: Call) => `${env.origin}${path}`
