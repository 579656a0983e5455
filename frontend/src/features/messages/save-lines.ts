import type { ScanLine } from "@/lib/api-types"
import { Problem } from "@/lib/problem"
import { saveFile } from "@/lib/save-file"
import { scanLines } from "./api/scan-messages"
import { MOST_READ, scanRequest, type TopicScan } from "./use-scan"

export const MOST_SAVED = 10_000
const MATCH = '{"type":"match","message":'

/** Reads the topic again, with bodies, and saves a line for each match; a last line says what the file lacks. */
export async function saveLines(cluster: string, wanted: TopicScan): Promise<void> {
  const body = scanRequest(wanted, { limit: MOST_SAVED, max_read: MOST_READ, bodies: true })
  const lines: string[] = []
  for await (const text of scanLines(cluster, wanted.topic, body, new AbortController().signal)) {
    // A message stays as it was written: numbers of its body may be longer than a double.
    if (text.startsWith(MATCH)) lines.push(text.slice(MATCH.length, -1))
    else end(JSON.parse(text) as ScanLine, lines)
  }
  saveFile(`${wanted.topic}.jsonl`, "application/x-ndjson", `${lines.join("\n")}\n`)
}

function end(line: ScanLine, lines: string[]) {
  if (line.type === "error") throw new Problem(503, { detail: line.detail, code: line.code })
  if (line.type === "end" && !line.complete) lines.push(JSON.stringify({ not_complete: line.end, missing: line.missing }))
}
