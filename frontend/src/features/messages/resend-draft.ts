import type { ResendInput, WholeMessage } from "@/lib/api-types"

/** What is typed into the form, beginning with what the message has. */
export interface ResendDraft {
  target: string
  keys: string
  tag: string
  encoding: "json" | "text" | "base64"
  body: string
}

export function draftOf(message: WholeMessage): ResendDraft {
  const { encoding, data, text } = message.body
  return {
    target: "",
    keys: message.keys.join(" "),
    tag: message.tag ?? "",
    encoding,
    // The text of JSON is exact; a value would have lost digits on its way here.
    body: text ?? String(data),
  }
}

/** The topic of a copy for which none is given: that of the message; for a dead letter or a retry the one it came from. */
export const originOf = ({ topic, properties }: WholeMessage): string => (/^%(DLQ|RETRY)%/.test(topic) ? (properties.RETRY_TOPIC ?? topic) : topic)

/** The request: only what was changed replaces what the message has. */
export function inputOf(message: WholeMessage, draft: ResendDraft): ResendInput {
  const before = draftOf(message)
  const isNewBody = draft.body !== before.body || draft.encoding !== before.encoding
  return {
    topic: message.topic,
    ...(draft.target.trim() && { target_topic: draft.target.trim() }),
    ...(draft.keys.trim() !== before.keys && { keys: draft.keys.split(/\s+/).filter(Boolean) }),
    ...(draft.tag.trim() !== before.tag && { tag: draft.tag.trim() }),
    ...(isNewBody && { body: { encoding: draft.encoding, data: draft.body } }),
  }
}
