import { describe, expect, it } from "vitest"
import { filterOf } from "./conditions"
import type { TailFrame, TailMessage } from "./frames"
import { continued, emptyTail, MOST_WAITING, paused, reconnected, waitingCount, withFrames } from "./tail-state"

const AT = "2026-11-21T06:31:07.412Z"

const message = (offset: number): TailMessage => ({
  type: "message", message_id: `M${offset}`, topic: "orders", broker: "a", queue_id: 0, offset, stored_at: AT, tag: null, keys: [],
  size_bytes: 9, reconsume_times: 0, properties: {}, body: null, body_hidden: null, unjudged: null,
})
const progress = (stored: number, matched: number, dropped: number): TailFrame => ({
  type: "progress", stored, read: stored, matched, shown: matched - dropped, dropped, bytes: 1, at: AT, resume: "r",
})
const offsets = (rows: readonly { type: string; offset?: number }[]) => rows.map((row) => row.offset ?? row.type)

describe("the rows of a tail", () => {
  it("are the newest first, with a drop where it happened", () => {
    const state = withFrames(emptyTail, [message(1), { type: "dropped", n: 7, reason: "max_rate", from: AT, to: AT }, message(2)])
    expect(offsets(state.rows)).toEqual([2, "dropped", 1])
    expect(new Set(state.rows.map(({ id }) => id)).size).toBe(3)
  })

  it("stand still while paused, and what waited comes when it goes on", () => {
    const state = withFrames(paused(withFrames(emptyTail, [message(1)]), AT), [message(2), message(3)])
    expect(offsets(state.rows)).toEqual([1])
    expect(waitingCount(state)).toBe(2)
    expect(offsets(continued(state).rows)).toEqual([3, 2, 1])
    expect(continued(state).pausedAt).toBeNull()
  })

  it("count what no longer fits while paused instead of losing it silently", () => {
    const many = Array.from({ length: MOST_WAITING + 5 }, (_, n) => message(n))
    const state = withFrames(withFrames(paused(emptyTail, AT), many), [message(MOST_WAITING + 5)])
    expect(state.waiting.length).toBe(MOST_WAITING)
    const last = state.waiting.at(-1)
    expect(last?.type === "dropped" && [last.reason, last.n]).toEqual(["waiting", 7])
  })
})

describe("the figures of a tail", () => {
  it("are what came by since the progress before, and count anew after a loss", () => {
    let state = withFrames(emptyTail, [progress(10, 4, 1), progress(25, 6, 1)])
    expect(state.seconds.map(({ stored, matched, dropped }) => [stored, matched, dropped])).toEqual([[10, 4, 1], [15, 2, 0]])
    state = withFrames(reconnected(state), [progress(3, 3, 0)])
    expect(state.seconds.at(-1)?.stored).toBe(3)
  })

  it("are not doubled by what comes a second time after a loss", () => {
    const lost = reconnected(withFrames(emptyTail, [message(1), message(2)]))
    expect(offsets(withFrames(lost, [message(2), message(3)]).rows)).toEqual([3, 2, 1])
  })

  it("say which broker is silent until it is read again", () => {
    const silent = withFrames(emptyTail, [{ type: "unknown", topic: "orders", broker: "b", reason: "refused" }])
    expect(silent.silent).toEqual({ "orders · b": "refused" })
    expect(withFrames(silent, [{ type: "unknown", topic: "orders", broker: "b", reason: null }]).silent).toEqual({})
  })
})

describe("conditions as they are typed", () => {
  it.each([
    ["tag:paid, refunded", { tags: ["paid", "refunded"] }],
    ["key:A17", { key: "A17" }],
    ["sql: region = 'eu' AND amount > 100", { sql: "region = 'eu' AND amount > 100" }],
    ["tenant = east", { properties: [{ name: "tenant", operator: "eq", value: "east" }] }],
    ["tenant != \"a b\"", { properties: [{ name: "tenant", operator: "ne", value: "a b" }] }],
    ["$.amount >= 100.5", { fields: [{ path: "$.amount", operator: "ge", value: 100.5 }] }],
    ["$.lines[0].sku = A", { fields: [{ path: "$.lines[0].sku", operator: "eq", value: "A" }] }],
    ["$.open = true", { fields: [{ path: "$.open", operator: "eq", value: true }] }],
    ["$.note", { fields: [{ path: "$.note", operator: "exists" }] }],
    ["card declined", { text: "card declined" }],
  ])("%s", (typed, filter) => {
    expect(filterOf([typed])).toEqual(filter)
  })

  it("hold together", () => {
    expect(filterOf(["tag:paid", "$.n > 1", "$.n < 9"])).toMatchObject({ tags: ["paid"], fields: [{ operator: "gt" }, { operator: "lt" }] })
  })
})
