import type { ProduceMessage } from "@/lib/api-types"
import { isInstant } from "@/lib/time"

export const ENCODINGS = ["json", "text", "base64", "hex"] as const
export const SENDS = ["one", "lines", "burst"] as const

/** What is typed into the produce form. */
export interface ProduceDraft {
  keys: string
  tag: string
  orderingKey: string
  properties: string
  /** Milliseconds, AT_A_TIME, or nothing for at once. */
  delayMs: string
  /** RFC 3339, as far as it was typed; only for AT_A_TIME. */
  deliverAt: string | undefined
  encoding: (typeof ENCODINGS)[number]
  body: string
  /** One message; one for each line of the body; or the same body many times, with {{n}} counting. */
  sends: (typeof SENDS)[number]
  count: number | undefined
  /** Messages a second; undefined: as fast as they are stored. */
  perSecond: number | undefined
}

export const EMPTY_DRAFT: ProduceDraft = {
  keys: "",
  tag: "",
  orderingKey: "",
  properties: "",
  delayMs: "",
  deliverAt: undefined,
  encoding: "json",
  body: '{\n  "hello": "harbour"\n}',
  sends: "one",
  count: 100,
  perSecond: undefined,
}

export const AT_A_TIME = "at"
export const MOST_MESSAGES = 10_000
export const COUNT_RANGE = { min: 1, max: MOST_MESSAGES }
export const RATE_RANGE = { min: 1, max: 10_000 }
const COUNTER = /\{\{n\}\}/g

export interface DraftProblems {
  body?: { kind: Exclude<ProduceDraft["encoding"], "text"> | "empty" | "tooMany"; line: number | null }
  properties?: number
  deliverAt?: true
}

/** RocketMQ's delay levels, which every cluster serves; in ms, from level 1 to 18. */
export const DELAY_LEVELS_MS = [
  1_000, 5_000, 10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000, 480_000, 540_000, 600_000,
  1_200_000, 1_800_000, 3_600_000, 7_200_000,
] as const

const VALID = {
  json: isJson,
  text: () => true,
  base64: (text: string) => /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text),
  hex: (text: string) => /^(\s*[0-9A-Fa-f]{2})*\s*$/.test(text),
} as const

export function problemsOf(draft: ProduceDraft): DraftProblems {
  const found: DraftProblems = {}
  const bodies = bodiesOf(draft)
  const wrong = bodies.findIndex((body) => !VALID[draft.encoding](body))
  const line = draft.sends === "lines" ? wrong + 1 : null
  if (bodies.length === 0 || bodies.some((body) => body.trim() === "")) found.body = { kind: "empty", line: null }
  else if (bodies.length > MOST_MESSAGES) found.body = { kind: "tooMany", line: null }
  else if (wrong >= 0 && draft.encoding !== "text") found.body = { kind: draft.encoding, line }
  const property = propertyLines(draft.properties).findIndex((each) => !/^[^=]+=/.test(each))
  if (property >= 0) found.properties = property + 1
  if (draft.delayMs === AT_A_TIME && !isInstant(draft.deliverAt ?? "")) found.deliverAt = true
  return found
}

/** The messages as the API takes them, each as JSON text: the numbers of a JSON body keep their digits. */
export function messagesOf(draft: ProduceDraft): string[] {
  const rest = fieldsOf(draft)
  return bodiesOf(draft).map((body) => {
    const fields = JSON.stringify(rest).slice(1, -1)
    return `{${fields}${fields && ","}"body":${bodyText(draft.encoding, body)}}`
  })
}

export const requestText = (messages: readonly string[]) => `{"messages":[${messages.join(",")}]}`

/** The fields beside the body; those that were left empty are absent. */
function fieldsOf(draft: ProduceDraft): Omit<ProduceMessage, "body"> {
  const keys = draft.keys.split(/[\s,]+/).filter(Boolean)
  const properties = Object.fromEntries(
    propertyLines(draft.properties).map((line) => {
      const at = line.indexOf("=")
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
  return {
    ...(keys.length > 0 && { keys }),
    ...(draft.tag.trim() && { tag: draft.tag.trim() }),
    ...(draft.orderingKey && { ordering_key: draft.orderingKey }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...deliveryOf(draft),
  }
}

function deliveryOf({ delayMs, deliverAt }: ProduceDraft): Pick<ProduceMessage, "delay_ms" | "deliver_at"> {
  if (delayMs === AT_A_TIME) return deliverAt === undefined ? {} : { deliver_at: deliverAt }
  return delayMs ? { delay_ms: Number(delayMs) } : {}
}

function bodiesOf({ sends, body, count }: ProduceDraft): string[] {
  if (sends === "one") return [body]
  if (sends === "lines") return body.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) => line.trim() !== "")
  const times = count === undefined || Number.isNaN(count) ? 0 : Math.min(count, MOST_MESSAGES)
  return Array.from({ length: times }, (_, index) => body.replaceAll(COUNTER, String(index + 1)))
}

function bodyText(encoding: ProduceDraft["encoding"], body: string): string {
  if (encoding === "json") return `{"encoding":"json","data":${isJson(body) ? body.trim() : JSON.stringify(body)}}`
  if (encoding === "text") return `{"encoding":"text","data":${JSON.stringify(body)}}`
  const plain = body.replaceAll(/\s/g, "")
  return `{"encoding":"base64","data":${JSON.stringify(encoding === "hex" ? base64OfHex(plain) : plain)}}`
}

function base64OfHex(hex: string): string {
  const bytes = hex.match(/../g) ?? []
  return btoa(bytes.map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join(""))
}

/** The bytes of a file as the body of the form: text if they are UTF-8, else base64. */
export function bodyOfFile(bytes: Uint8Array): Pick<ProduceDraft, "encoding" | "body"> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return { encoding: isJson(text) ? "json" : "text", body: text }
  } catch {
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
    return { encoding: "base64", body: btoa(letters) }
  }
}

const propertyLines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
