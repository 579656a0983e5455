import type { ProduceMessage } from "@/lib/api-types"

/** What is typed into the produce form. */
export interface ProduceDraft {
  keys: string
  tag: string
  properties: string
  delayMs: string
  encoding: "json" | "text" | "base64"
  body: string
}

export const EMPTY_DRAFT: ProduceDraft = {
  keys: "",
  tag: "",
  properties: "",
  delayMs: "",
  encoding: "json",
  body: '{\n  "hello": "harbour"\n}',
}

export interface DraftProblems {
  body?: "json" | "base64"
  properties?: number
}

/** RocketMQ delays by levels only; in ms, from level 1 to 18. */
export const DELAY_LEVELS_MS = [
  1_000, 5_000, 10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000, 480_000, 540_000, 600_000,
  1_200_000, 1_800_000, 3_600_000, 7_200_000,
] as const

export function problemsOf({ encoding, body, properties }: ProduceDraft): DraftProblems {
  const found: DraftProblems = {}
  if (encoding === "json" && !isJson(body)) found.body = "json"
  if (encoding === "base64" && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(body)) found.body = "base64"
  const wrong = propertyLines(properties).findIndex((line) => !/^[^=]+=/.test(line))
  if (wrong >= 0) found.properties = wrong + 1
  return found
}

/** The message as the API takes it; fields that were left empty are absent. */
export function messageOf(draft: ProduceDraft): ProduceMessage {
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
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(draft.delayMs && { delay_ms: Number(draft.delayMs) }),
    body: { encoding: draft.encoding, data: dataOf(draft) },
  }
}

function dataOf({ encoding, body }: ProduceDraft): unknown {
  if (encoding === "json") return isJson(body) ? (JSON.parse(body) as unknown) : body
  return encoding === "base64" ? body.replaceAll(/\s/g, "") : body
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
