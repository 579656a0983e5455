import { describe, expect, it } from "vitest"
import { job } from "@/testing/factories"
import { progressOf, tookMs } from "./progress"

const counters = { planned: 1_000, read: 600, matched: 600, written: 500, filtered: 100, damaged: 0, failed: 0, skipped: 0, bytes: 0 }

describe("progress", () => {
  it("counts what was read, also what the filter left out", () => expect(progressOf(job("1", { counters }))).toBe(0.6))
  it("is not known before the plan is", () => expect(progressOf(job("1", { counters: { ...counters, planned: null } }))).toBeNull())
  it("is whole when the job succeeded", () => expect(progressOf(job("1", { state: "succeeded" }))).toBe(1))
  it("never passes the end", () => expect(progressOf(job("1", { counters: { ...counters, read: 9_999 } }))).toBe(1))
})

it("measures how long a job ran by its own times", () => {
  const ended = job("1", { started_at: "2026-11-21T06:00:00Z", finished_at: "2026-11-21T06:01:00Z" })
  expect(tookMs(ended, 0)).toBe(60_000)
  expect(tookMs(job("1", { started_at: null }), 0)).toBeNull()
})
