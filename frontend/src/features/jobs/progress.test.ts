import { describe, expect, it } from "vitest"
import { job } from "@/testing/factories"
import { progressOf, tookMs } from "./progress"

const counters = { planned: 1_000, read: 600, matched: 600, written: 500, filtered: 100, damaged: 0, failed: 0, unknown: 0, skipped: 0, bytes: 0 }

describe("progress", () => {
  it("counts what was read, also what the filter left out", () => expect(progressOf(job("1", { counters }))).toBe(0.6))
  it("is not known before the plan is", () => expect(progressOf(job("1", { counters: { ...counters, planned: null } }))).toBeNull())
  it("is whole when the job succeeded", () => expect(progressOf(job("1", { state: "succeeded" }))).toBe(1))
  it("never passes the end", () => expect(progressOf(job("1", { counters: { ...counters, read: 9_999 } }))).toBe(1))
})

describe("how long a job worked", () => {
  const started_at = "2026-11-21T06:00:00Z"
  const now = Date.parse("2026-11-21T06:00:30Z")

  it("goes on while it runs", () => expect(tookMs(job("1", { started_at }), now)).toBe(30_000))
  it("has the runs before a pause in it", () => expect(tookMs(job("1", { started_at, worked_ms: 103_000 }), now)).toBe(133_000))
  it.each(["paused", "queued", "succeeded"] as const)("stands still once it is %s", (state) => expect(tookMs(job("1", { state, started_at, worked_ms: 103_000 }), now)).toBe(103_000))
  it("is not known of a job that never ran", () => expect(tookMs(job("1", { state: "queued", started_at: null }), now)).toBeNull())
  it("is not below nothing where clocks differ", () => expect(tookMs(job("1", { started_at: "2026-11-21T06:01:00Z" }), now)).toBe(0))
})
