import type { Message } from "@/lib/api-types"

type Body = Message["body"]

export function bytesOf({ encoding, data }: Body): Uint8Array {
  if (encoding === "base64") return Uint8Array.from(atob(String(data)), (char) => char.charCodeAt(0))
  return new TextEncoder().encode(encoding === "json" ? JSON.stringify(data) : String(data))
}

export function textOf(body: Body): string {
  if (body.encoding === "json") return JSON.stringify(body.data, null, 2)
  return body.encoding === "text" ? String(body.data) : new TextDecoder().decode(bytesOf(body))
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
