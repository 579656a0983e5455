import type { WholeMessage } from "@/lib/api-types"

type Body = WholeMessage["body"]

export function bytesOf({ encoding, data, text }: Body): Uint8Array {
  if (encoding === "base64") return Uint8Array.from(atob(String(data)), (char) => char.charCodeAt(0))
  return new TextEncoder().encode(text ?? (encoding === "json" ? JSON.stringify(data) : String(data)))
}

export function textOf(body: Body): string {
  if (body.encoding === "json") return indented(body.text ?? JSON.stringify(body.data))
  return body.encoding === "text" ? String(body.data) : new TextDecoder().decode(bytesOf(body))
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/** JSON over several lines, its numbers, strings and members as they stand: no reader of numbers comes near them. */
export function indented(json: string): string {
  const tokens = json.match(TOKEN) ?? []
  let text = ""
  let depth = 0
  tokens.forEach((token, at) => {
    const isOpen = token === "{" || token === "["
    const isClose = token === "}" || token === "]"
    if (isClose) depth -= 1
    const before = tokens[at - 1] ?? ""
    const isEmpty = isClose && (before === "{" || before === "[")
    if ((isClose && !isEmpty) || before === "," || (!isClose && (before === "{" || before === "["))) {
      text += `\n${"  ".repeat(depth)}`
    }
    text += token === ":" ? ": " : token
    if (isOpen) depth += 1
  })
  return text
}

const ROW = 16
export const MOST_HEX_BYTES = 8_192

/** Offset, sixteen bytes, and what of them can be read. */
export function hexRows(bytes: Uint8Array): string[] {
  const rows: string[] = []
  for (let at = 0; at < Math.min(bytes.length, MOST_HEX_BYTES); at += ROW) {
    const row = [...bytes.subarray(at, at + ROW)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(ROW * 3 - 1)
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("")
    rows.push(`${at.toString(16).padStart(6, "0")}  ${hex}  ${text}`)
  }
  return rows
}
