import { vi } from "vitest"

/** One request as the gateway would have seen it. */
export interface SeenRequest {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  headers: Headers
}

interface Answered {
  status?: number
  body?: unknown
  /** What is answered as it stands, in place of a body of JSON. */
  text?: string
  headers?: Record<string, string>
}

type Answer = (request: SeenRequest) => Answered | Promise<Answered>

const answers = new Map<string, Answer>()
const seen: SeenRequest[] = []

/** Answer "GET /api/v1/me" with a body, or with what a function makes of the request. */
export function answer(line: string, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  answers.set(line, typeof body === "function" ? (body as Answer) : () => ({ status, body, headers }))
}

/** Answer with a body once the test lets go of it. */
export function holdAnswer(line: string, body: Promise<unknown>): void {
  answers.set(line, async () => ({ body: await body }))
}

/** Nobody answers: the request ends as one does without a network. */
export function unplug(line: string): void {
  answers.set(line, () => {
    throw new TypeError("Failed to fetch")
  })
}

/** Answer with a problem, as the gateway writes one. */
export function refuse(line: string, status: number, code: string, detail: string): void {
  answer(line, { title: code, status, code, detail, request_id: "01JDX6R8K3ZC5W2N", retryable: false }, status)
}

export const requests = (line: string): SeenRequest[] => seen.filter(({ method, path }) => `${method} ${path}` === line)

export function forgetAnswers(): void {
  answers.clear()
  seen.length = 0
}

async function answerFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const url = new URL(String(input), "http://gantry.test")
  const text = typeof init.body === "string" ? init.body : ""
  const request: SeenRequest = {
    method: init.method ?? "GET",
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    body: parsed(text),
    headers: new Headers(init.headers),
  }
  seen.push(request)
  const found = answers.get(`${request.method} ${request.path}`)
  const { status = 200, body, text: raw, headers = {} } = (await untilAborted(found?.(request), init.signal)) ?? { status: 404, headers: {}, body: { title: "Not found", status: 404, code: "NOT_FOUND" } }
  await Promise.resolve()
  return new Response(status === 204 ? null : (raw ?? JSON.stringify(body ?? null)), {
    status,
    headers: { "Content-Type": status >= 400 ? "application/problem+json" : "application/json", "X-Request-Id": "01JDX6R8K3ZC5W2N", ...headers },
  })
}

/** As the browser does it: a request that is aborted ends at once, whatever the server does. */
function untilAborted<T>(answered: T | Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DOMException("The operation was aborted.", "AbortError"))
    if (signal?.aborted) return abort()
    signal?.addEventListener("abort", abort, { once: true })
    Promise.resolve(answered).then(resolve, reject)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

vi.stubGlobal("fetch", answerFetch)
