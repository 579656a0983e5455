import i18next from "i18next"
import { detailIn } from "./reasons"

/** The body of an error answer (RFC 9457) as the gateway writes it. */
export interface ProblemBody {
  title?: string
  detail?: string
  status?: number
  code?: string
  request_id?: string
  retryable?: boolean
  /** What the cluster lacks, where that is why. */
  capability?: string
  errors?: { pointer?: string; code?: string; detail?: string }[]
}

/** Raised when the API refuses, or (status 0) when it could not be reached. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly retryable: boolean
  readonly title: string
  readonly capability: string | null
  readonly fields: Readonly<Record<string, string>>

  constructor(status: number, body: ProblemBody, requestId: string | null = null) {
    super(body.detail ?? body.title ?? `HTTP ${status}`)
    this.name = "Problem"
    this.status = status
    this.title = body.title ?? this.message
    this.code = body.code ?? (status === 0 ? "UNREACHABLE" : `HTTP_${status}`)
    this.requestId = body.request_id ?? requestId
    this.retryable = body.retryable ?? (status === 0 || status >= 500)
    this.capability = body.capability ?? null
    this.fields = fieldErrors(body)
  }
}

function fieldErrors(body: ProblemBody): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { pointer, detail } of body.errors ?? []) {
    if (pointer && detail) found[pointer.replace(/^#?\/?/, "").replaceAll("/", ".")] ??= detail
  }
  return found
}

/** Whatever was thrown, as a problem that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, { title: error instanceof Error ? error.message : String(error) })
}

/** Whether the API says that what was asked for does not exist. */
export const isGone = (error: unknown): boolean => error instanceof Problem && error.status === 404

interface Sent<T> {
  error: unknown
  variables: T | undefined
}

/** What the API said of each field of the form, by its name; of a field that was changed since, it said nothing. */
export function rawFields<T extends object>({ error, variables }: Sent<T>, now: Readonly<Partial<Record<keyof T, unknown>>>): Readonly<Record<string, string>> {
  if (!error || !variables) return {}
  const isAsSent = ([name]: [string, string]) => !(name in variables) || variables[name as keyof T] === now[name as keyof T]
  return Object.fromEntries(Object.entries(asProblem(error).fields).filter(isAsSent))
}

/** The same in the language of the reader. */
export const refusedFields = <T extends object>(sent: Sent<T>, now: Readonly<Partial<Record<keyof T, unknown>>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(rawFields(sent, now)).map(([name, detail]) => [name, detailIn(i18next.t, i18next.language, detail)]))
