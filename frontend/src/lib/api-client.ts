import { Problem, type ProblemBody } from "@/lib/problem"
import { createStore } from "@/lib/store"

export type Query = Record<string, string | number | boolean | null | undefined>

interface RequestOptions {
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Whether the last request reached the gateway, and when it last did not. */
export const reachable = createStore<{ ok: boolean; since: number }>({ ok: true, since: Date.now() })

/** Called when an answer says that nobody is signed in. */
export const signedOut = createStore(0)

/** The tag of each resource as it was last read: a change says by it what it is a change of. */
const tags = new Map<string, string>()

export const knownTag = (path: string) => tags.get(path)

/** Keeps the tags of resources that came in a list. */
export function keepTags<T extends { etag: string }>(items: readonly T[], pathOf: (item: T) => string): void {
  for (const item of items) tags.set(pathOf(item), item.etag)
}

/**
 * Makes a change one of what another path showed, such as the preview of a deletion: the page may have read the resource
 * again since then, and what it read was not what somebody agreed to.
 */
export function asShownBy(path: string): Pick<RequestOptions, "headers"> {
  const tag = tags.get(path)
  return tag === undefined ? {} : { headers: { "If-Match": tag } }
}

export function withQuery(path: string, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value))
  }
  const text = params.toString()
  return text ? `${path}?${text}` : path
}

async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options)
  if (!response.ok) throw await problemOf(response)
  const tag = response.headers.get("ETag")
  if (tag) tags.set(path, tag)
  if (response.status === 204 || response.headers.get("Content-Length") === "0") return undefined as T
  const text = await response.text()
  return (text === "" ? undefined : JSON.parse(text)) as T
}

async function send(method: string, path: string, { query, body, headers, signal }: RequestOptions) {
  const init: RequestInit = {
    method,
    credentials: "same-origin",
    headers: { Accept: "application/json", ...contentHeaders(method, body), ...conditions(method, path), ...headers },
  }
  if (signal) init.signal = signal
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body)
  try {
    const response = await fetch(withQuery(path, query), init)
    noteReachable(!isProxys(response))
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    noteReachable(false)
    throw new Problem(0, { title: "The gateway does not answer", code: "GATEWAY_UNREACHABLE", retryable: true })
  }
}

/** Whether a proxy answered in place of the gateway, whose own 502 and 504 are problems and speak of a broker. */
const isProxys = ({ status, headers }: Response): boolean =>
  (status === 502 || status === 504) && !headers.get("Content-Type")?.startsWith("application/problem+json")

function contentHeaders(method: string, body: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  if (method !== "GET") found["X-CSRFToken"] = cookie("csrftoken")
  if (body !== undefined && typeof body !== "string") found["Content-Type"] = "application/json"
  return found
}

function conditions(method: string, path: string): Record<string, string> {
  const tag = method === "PATCH" || method === "DELETE" ? tags.get(path) : undefined
  return tag ? { "If-Match": tag } : {}
}

function cookie(name: string): string {
  const pair = document.cookie.split("; ").find((entry) => entry.startsWith(`${name}=`))
  return pair ? decodeURIComponent(pair.slice(name.length + 1)) : ""
}

async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get("X-Request-Id")
  if (response.status === 401) signedOut.set(signedOut.get() + 1)
  const text = await response.text().catch(() => "")
  try {
    return new Problem(response.status, JSON.parse(text) as ProblemBody, requestId)
  } catch {
    return new Problem(response.status, { title: response.statusText || `HTTP ${response.status}` }, requestId)
  }
}

function noteReachable(ok: boolean): void {
  if (reachable.get().ok !== ok) reachable.set({ ok, since: Date.now() })
}

/** The lines of an answer of JSON Lines, unread, as they arrive; ends when the signal aborts it. */
async function* lines(path: string, body: string, signal: AbortSignal): AsyncGenerator<string> {
  const headers = { Accept: "application/x-ndjson", "Content-Type": "application/json" }
  const response = await send("POST", path, { body, headers, signal })
  if (!response.ok) throw await problemOf(response)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const piece = await reader?.read()
    const whole = (rest + (piece?.value ?? "")).split("\n")
    rest = whole.pop() ?? ""
    yield* whole
    if (!piece || piece.done) break
  }
  if (rest !== "") yield rest
}

export const api = {
  lines,
  /** The answer as it came, a refusal too; throws only when the gateway does not answer. */
  raw: send,
  get: <T>(path: string, query?: Query, signal?: AbortSignal) =>
    request<T>("GET", path, { ...(query && { query }), ...(signal && { signal }) }),
  /** Reads by a request with a body: it changes nothing, though it is a POST. */
  ask: <T>(path: string, body: unknown, signal: AbortSignal) => request<T>("POST", path, { body, signal }),
  /** Reads what a change would do: the same request, but only as a rehearsal. */
  rehearse: <T>(path: string, body: unknown, signal: AbortSignal) => request<T>("PATCH", path, { query: { dry_run: true }, body, signal }),
  post: <T>(path: string, body?: unknown, options: Omit<RequestOptions, "body"> = {}) =>
    request<T>("POST", path, { ...options, ...(body !== undefined && { body }) }),
  patch: <T>(path: string, body: unknown, options: Omit<RequestOptions, "body"> = {}) =>
    request<T>("PATCH", path, { ...options, body }),
  put: <T>(path: string, body: unknown, options: Omit<RequestOptions, "body"> = {}) => request<T>("PUT", path, { ...options, body }),
  delete: <T>(path: string, options: Omit<RequestOptions, "body"> = {}) => request<T>("DELETE", path, options),
}
