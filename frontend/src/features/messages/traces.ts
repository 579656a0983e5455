import type { MessageTrace, TracedConsumption } from "@/lib/api-types"

type Result = "ok" | "failed" | "open" | "plain"

/** One line of the traced life: a send, a call of a listener, a decision, a recall. */
export type TraceLine = { at: string | null; result: Result } & (
  | { kind: "sent"; send: MessageTrace["sent"][number] }
  | { kind: "consumed"; call: TracedConsumption }
  | { kind: "ended"; end: MessageTrace["ended"][number] }
  | { kind: "recalled"; recall: MessageTrace["recalled"][number] }
)

const resultOf = (success: boolean | null): Result => (success === null ? "open" : success ? "ok" : "failed")
const timeOf = (call: TracedConsumption) => call.started_at ?? call.ended_at

/** All that was traced, the oldest first; what has no time comes last. */
export function linesOf({ sent, consumed, ended, recalled }: MessageTrace): TraceLine[] {
  const lines: TraceLine[] = [
    ...sent.map((send) => ({ kind: "sent" as const, at: send.at, result: resultOf(send.success), send })),
    ...consumed.map((call) => ({ kind: "consumed" as const, at: timeOf(call), result: resultOf(call.success), call })),
    ...ended.map((end) => ({ kind: "ended" as const, at: end.at, result: "plain" as const, end })),
    ...recalled.map((recall) => ({ kind: "recalled" as const, at: recall.at, result: resultOf(recall.success), recall })),
  ]
  return lines.sort((a, b) => (a.at === null ? 1 : b.at === null ? -1 : a.at.localeCompare(b.at)))
}

export interface GroupTrace {
  group: string
  result: Result
  calls: number
  failed: number
  /** Of all its calls together; null if no end is known. */
  costMs: number | null
}

/** What became of it in each group: its last call that ended says so, unless another one is open. */
export function groupsOf({ consumed }: MessageTrace): GroupTrace[] {
  const names = [...new Set(consumed.map(({ group }) => group))].sort()
  return names.map((group) => {
    const calls = consumed.filter((call) => call.group === group)
    const costs = calls.flatMap(({ cost_ms: cost }) => (cost === null ? [] : [cost]))
    return {
      group,
      result: calls.some(({ success }) => success) ? "ok" : resultOf(calls.at(-1)?.success ?? null),
      calls: calls.length,
      failed: calls.filter(({ success }) => success === false).length,
      costMs: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null,
    }
  })
}
