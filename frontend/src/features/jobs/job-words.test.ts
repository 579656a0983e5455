import { describe, expect, it } from "vitest"
import { job } from "@/testing/factories"
import { beforeRun, boundOf, kindOf, LONGEST, NO_MOMENT, spanOf, UNITS } from "./bounds"
import { doneOf, isActive, plannedOf, progressOf } from "./progress"
import { differencesOf, keylessOf, listedOf, TILES } from "./report"
import { isWhole, reconcileOf, replayOf } from "./request"

describe("the bound of a range that a schedule fills in", () => {
  it.each([
    [undefined, "open"],
    ["", "open"],
    ["{{ last_success }}", "last_success"],
    ["{{ scheduled_at }}", "scheduled_at"],
    ["{{ scheduled_at - 90m }}", "before"],
    ["2026-11-21T06:00:00Z", "fixed"],
  ] as const)("%s is %s", (bound, kind) => {
    expect(kindOf(bound)).toBe(kind)
  })

  it.each(["{{ scheduled_at - 1w }}", "{{ scheduled_at -1h }}", "{{ scheduled_at - 1.5h }}", "scheduled_at - 1h"])("%s is no span", (bound) => {
    expect(spanOf(bound)).toBeUndefined()
  })

  it("writes a span as it is read", () => {
    for (const unit of UNITS) expect(spanOf(beforeRun({ amount: 7, unit }))).toEqual({ amount: 7, unit })
  })

  it("begins with a word the server knows; a fixed moment is still to be typed, which is no open end", () => {
    expect(boundOf("fixed")).toBe(NO_MOMENT)
    expect(kindOf(NO_MOMENT)).toBe("fixed")
    for (const kind of ["last_success", "scheduled_at", "before"] as const) expect(kindOf(boundOf(kind))).toBe(kind)
  })

  it("is never longer than 366 days, in whatever unit", () => {
    expect([LONGEST.m / 1_440, LONGEST.h / 24, LONGEST.d]).toEqual([366, 366, 366])
  })
})

describe("how far a job is", () => {
  const counters = job("j").counters

  it("counts what is read, whatever becomes of it", () => expect(doneOf(job("j", { counters: { ...counters, written: 5, read: 9 } }))).toBe(9))

  it("is not known before the messages are counted", () => {
    expect(progressOf(job("j", { counters: { ...counters, planned: null } }))).toBeNull()
    expect(plannedOf(job("j", { counters: { ...counters, planned: 0 } }))).toBeNull()
    expect(progressOf(job("j", { state: "running", counters: { ...counters, planned: 9, read: null } }))).toBeNull()
  })

  it("is whole when it succeeded, none while it waits, and never more than whole", () => {
    expect(progressOf(job("j", { state: "succeeded", counters: { ...counters, planned: null } }))).toBe(1)
    expect(progressOf(job("j", { state: "queued" }))).toBe(0)
    expect(progressOf(job("j", { counters: { ...counters, planned: 10, read: 99 } }))).toBe(1)
  })

  it.each(["queued", "running"] as const)("moves while it is %s", (state) => expect(isActive(job("j", { state }))).toBe(true))
  it.each(["succeeded", "partial", "failed", "cancelled"] as const)("stands still once it is %s", (state) => expect(isActive(job("j", { state }))).toBe(false))
})

describe("the request that the address describes", () => {
  it("leaves out no limit that was typed, whatever it is", () => {
    expect(replayOf({ topic: "a", target: "b", rate: "" }, "local").limits).toBeUndefined()
    for (const rate of ["0", "-5", "x", "Infinity"]) expect(replayOf({ topic: "a", target: "b", rate }, "local").limits).toBeDefined()
  })

  it("takes queue numbers and keys apart at blanks and commas", () => {
    expect(replayOf({ topic: "a", queues: "0,1  2", keys: "A17,\nB2" }, "local").source).toEqual({ topic: "a", queues: [0, 1, 2], keys: ["A17", "B2"] })
  })

  it("matches by key when the address names no way that exists", () => {
    expect(reconcileOf({ left: "a", right: "b", by: "guess" }, "local").by).toBe("key")
  })

  it("gives the right side a range of its own where it has one", () => {
    expect(reconcileOf({ left: "a", right: "b", from: "L", to: "M", rfrom: "R" }, "local")).toMatchObject({ left: { from: "L", to: "M" }, right: { from: "R" } })
  })

  it("is whole with both topics", () => {
    expect(isWhole(replayOf({ topic: "a" }, "local"), {})).toBe(false)
    expect(isWhole(replayOf({ topic: "a", target: "b" }, "local"), {})).toBe(true)
    expect(isWhole(reconcileOf({ left: "a" }, "local"), {})).toBe(false)
  })
})

describe("a report", () => {
  it("counts every kind of difference, and no match", () => {
    const tiles = Object.fromEntries(TILES.map((tile) => [tile, 1]))
    // Without what matched, the two without a key and the two that are damaged.
    expect(differencesOf({ tiles })).toBe(TILES.length - 5)
    expect(listedOf({ tiles })).toBe(TILES.length - 3)
    expect(keylessOf({ tiles })).toBe(2)
    expect(differencesOf({})).toBe(0)
  })
})
