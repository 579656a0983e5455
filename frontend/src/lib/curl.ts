import { env } from "@/config/env"
import { knownTag, type Query, withQuery } from "@/lib/api-client"

export interface CurlRequest {
  method?: "GET" | "POST" | "PATCH" | "DELETE"
  path: string
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  /** The version that is changed, where it is another than the newest that is known. */
  tag?: string
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The request as a command; the token is a variable of the shell and never printed. */
export function curlOf({ method = "GET", path, query, body, headers = {}, tag = method === "PATCH" || method === "DELETE" ? knownTag(path) : undefined }: CurlRequest): string {
  const url = `${env.origin}${withQuery(path, query)}`
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${/[?&'" ]/.test(url) ? quoted(url) : url}`,
    '-H "Authorization: Bearer $GANTRY_TOKEN"',
  ]
  if (tag) lines.push(`-H ${quoted(`If-Match: ${tag}`)}`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (typeof body === "string") lines.push(`--data-binary ${quoted(body)}`)
  else if (body !== undefined) lines.push(`-H "Content-Type: application/json" -d ${quoted(JSON.stringify(body))}`)
  return lines.join(" \\\n  ")
}
