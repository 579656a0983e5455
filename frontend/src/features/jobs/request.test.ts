import { expect, it } from "vitest"
import { isWhole, reconcileOf, replayOf } from "./request"

it("makes a replay of the address and leaves out what was left empty", () => {
  expect(replayOf({ topic: "orders", target: "staging" }, "local")).toEqual({
    type: "replay",
    cluster: "local",
    source: { topic: "orders" },
    target: { topic: "staging" },
  })
  expect(replayOf({ topic: "orders", target: "staging", keys: "A17 A18", queues: "0, 3", rate: "500", max: "x", tag: "paid" }, "local")).toMatchObject({
    source: { topic: "orders", keys: ["A17", "A18"], queues: [0, 3], tag: "paid" },
    limits: { messages_per_second: 500 },
  })
})

it("compares both sides over the same range", () => {
  const from = "2026-11-20T00:00:00Z"
  expect(reconcileOf({ left: "orders", right: "ledger", from, by: "unique_id" }, "local")).toMatchObject({
    left: { topic: "orders", from },
    right: { topic: "ledger", from },
    by: "unique_id",
  })
})

it("knows when a job could start", () => {
  expect(isWhole(replayOf({ topic: "orders" }, "local"))).toBe(false)
  expect(isWhole(reconcileOf({ left: "a", right: "b" }, "local"))).toBe(true)
})
