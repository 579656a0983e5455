/** The frames of /ws/v1/tail (docs/http-api.md, "WebSocket"). */
export type Operator = "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "contains" | "prefix" | "exists" | "absent"

export interface TailFilter {
  tags?: string[]
  key?: string
  text?: string
  properties?: { name: string; operator: Operator; value?: string }[]
  fields?: { path: string; operator: Operator; value?: string | number | boolean | null }[]
  sql?: string
}

export interface TailRequest {
  cluster: string
  topics: string[]
  filter: TailFilter
  sample: number
  max_rate: number
  resume?: string
}

export interface TailMessage {
  type: "message"
  message_id: string
  topic: string
  broker: string
  queue_id: number
  offset: number
  stored_at: string
  tag: string | null
  keys: string[]
  size_bytes: number
  reconsume_times: number
  properties: Record<string, string> | null
  body: { encoding: "json" | "text" | "base64"; data: unknown } | null
  body_hidden: string | null
  unjudged: string | null
}

export interface Counts {
  stored: number
  read: number
  matched: number
  shown: number
  dropped: number
}

export type DropReason = "max_rate" | "slow_client" | "reader_behind" | "deleted" | "waiting" | "disconnected"

export interface Dropped {
  type: "dropped"
  /** Null where the connection was lost: how many came by meanwhile is not known. */
  n: number | null
  reason: DropReason
  from: string | null
  to: string | null
}

export interface Problem {
  code: string
  detail: string
  errors?: { pointer: string; detail: string }[]
}

export type TailFrame =
  | TailMessage
  | Dropped
  | (Counts & { type: "progress"; at: string; bytes: number; resume: string })
  | { type: "hello" }
  | { type: "phase"; phase: "live" | "catching_up"; topics: string[] }
  | { type: "unknown"; topic: string; broker: string | null; reason: string | null }
  | { type: "error"; problem: Problem }
  | { type: "done"; reason: string }
