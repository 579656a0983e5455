import { expect, it } from "vitest"
import { checkOf, exportOf, faultsOf, isWhole, lackOf, reconcileOf, replayOf } from "./request"

it("makes a replay of the address and leaves out what was left empty", () => {
  expect(replayOf({ topic: "orders", target: "staging" }, "local")).toEqual({
    type: "replay",
    cluster: "local",
    source: { topic: "orders" },
    target: { topic: "staging" },
  })
  expect(replayOf({ topic: "orders", target: "staging", keys: "A17 A18", queues: "0, 3", rate: "500", tag: "paid" }, "local")).toMatchObject({
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
  expect(isWhole(replayOf({ topic: "orders" }, "local"), {})).toBe(false)
  expect(isWhole(reconcileOf({ left: "a", right: "b" }, "local"), {})).toBe(true)
  expect(isWhole(replayOf({ topic: "a", target: "a" }, "local"), {})).toBe(false)
  expect(isWhole(replayOf({ topic: "a", target: "b" }, "local"), { queues: "one" })).toBe(false)
})

it("never leaves out what it cannot read: the API refuses it too", () => {
  expect(replayOf({ topic: "orders", from: "昨天", queues: "99,foo", rate: "-5" }, "local")).toMatchObject({
    source: { from: "昨天", queues: [99, "foo"] },
    limits: { messages_per_second: "-5" },
  })
})

const at = (hour: number) => `2026-11-21T0${hour}:00:00.000Z`

it.each([
  [{ from: "昨天" }, { from: "moment" }],
  [{ from: at(3), to: at(2) }, { to: "reversed" }],
  [{ from: at(2), to: at(2) }, { to: "reversed" }],
  [{ from: at(2), to: at(3) }, {}],
  [{ from: "{{ scheduled_at - 1h }}", to: "{{ scheduled_at - 2h }}" }, { to: "reversed" }],
  [{ from: "{{ scheduled_at - 1d }}", to: "{{ scheduled_at }}" }, {}],
  [{ from: "{{ last_success }}", to: "{{ scheduled_at }}" }, {}],
  [{ from: "{{ scheduled_at - 400d }}" }, { from: "span" }],
  [{ from: "{{ scheduled_at - NaNh }}" }, { from: "span" }],
  [{ queues: "one two" }, { queues: "queues" }],
  [{ queues: "99,foo" }, { queues: "queues" }],
  [{ queues: "0, 3" }, {}],
  [{ rate: "-5" }, { rate: "number" }],
  [{ rate: "0", max: "NaN" }, { rate: "number", max: "number" }],
  [{ rate: "10000001" }, { rate: "number" }],
  [{ minutes: "525601" }, { minutes: "number" }],
  [{ from: at(1), rto: "soon" }, { rto: "moment" }],
])("finds in %j the faults %j", (state, faults) => {
  expect(faultsOf(state)).toEqual(faults)
})

it("writes what is compared, and finds the faults of it", () => {
  const state = { left: "a", right: "b", by: "sql", bleft: "key", bright: "json:id::string", cmp: "tag", values: "amount: json:a::double | json:b || 'x' | 0.01\nid: json:id::string", lwhere: "tag = 'x'", order: "1", late: "60" }
  expect(reconcileOf(state, "local")).toMatchObject({
    left: { topic: "a", where: "tag = 'x'" },
    by: { left: "key", right: "json:id::string" },
    compare: ["tag", { name: "amount", left: "json:a::double", right: "json:b || 'x'", tolerance: 0.01 }, { name: "id", left: "json:id::string", right: "json:id::string" }],
    order: true,
    lateness_ms: 60_000,
  })
  expect(faultsOf(state)).toEqual({})
  expect(faultsOf({ by: "sql", bleft: "key", values: "amount json:a" })).toEqual({ bright: "expression", values: "values" })
  expect(faultsOf({ values: "a: b | c | much" })).toEqual({ values: "values" })
  expect(reconcileOf({ cmp: "none" }, "local").compare).toBe("none")
  // Words of an address that name no field tick none
  expect(reconcileOf({ cmp: "luck" }, "local").compare).toBe("none")
  expect(reconcileOf({}, "local").compare).toBe("body")
})

it("makes an export of the address, and reads the offsets that it names", () => {
  const state = { topic: "orders", bounds: "offsets", offsets: "0: 10 - 20\nbroker-b/3: 5 -\n4", from: "yesterday", queues: "x", format: "parquet", cols: "key,body" }
  const request = exportOf(state, "local")
  const offsets = [{ queue: 0, from: 10, to: 20 }, { broker: "broker-b", queue: 3, from: 5 }, { queue: 4 }]
  expect(request).toEqual({ type: "export", cluster: "local", source: { topic: "orders", offsets }, format: "parquet", columns: ["key", "body"] })
  expect(isWhole(request, { ...state, from: undefined })).toBe(true)
  expect(exportOf({ topic: "orders", from: "x" }, "local")).toEqual({ type: "export", cluster: "local", source: { topic: "orders", from: "x" }, format: "csv" })
  expect(isWhole(exportOf({ topic: "orders", bounds: "offsets" }, "local"), {})).toBe(false)
})

it.each(["0: 20 - 10", "nought: 1 - 2", "0: 1"])("finds no range of offsets in %j", (offsets) => {
  expect(faultsOf({ bounds: "offsets", offsets })).toEqual({ offsets: "offsets" })
  expect(faultsOf({ offsets })).toEqual({})
})

it("limits the time of every job, and the rate only of replays to a topic", () => {
  const state = { topic: "a", target: "b", rate: "5", minutes: "90" }
  expect(replayOf(state, "local").limits).toEqual({ messages_per_second: 5, max_minutes: 90 })
  for (const request of [replayOf({ ...state, tkind: "parquet" }, "local"), exportOf(state, "local"), reconcileOf(state, "local"), checkOf(state, "local")])
    expect(request.limits).toEqual({ max_minutes: 90 })
})

it("calls a comparison of a topic with itself wrong, and one that lacks a side not ready", () => {
  const lack = (state: Record<string, string>) => lackOf(reconcileOf(state, "local"), state)
  expect(lack({ left: "orders", right: "orders" })).toBe("wrong")
  expect(lack({ left: "orders" })).toBe("notReady")
  expect(lack({ left: "orders", right: "ledger" })).toBeNull()
})
