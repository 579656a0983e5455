import { expect, it } from "vitest"
import { cutOf, linesOf } from "./log"

it("keeps the order of the log, takes times apart, and marks warnings", () => {
  const lines = linesOf("2026-11-21T06:00:00.000Z INFO started\n2026-11-21 06:00:01,500 WARNING slow\nno time here\n")
  expect(lines).toEqual([
    { number: 0, at: "2026-11-21T06:00:00.000Z", text: "started", isWarning: false },
    { number: 1, at: "2026-11-21T06:00:01.500", text: "WARNING slow", isWarning: true },
    { number: 2, at: null, text: "no time here", isWarning: false },
  ])
})

it("keeps the newest lines of many, and their spaces: marks stand below what they mean", () => {
  expect(linesOf("one\n1 / x\n    ^\n", 2)).toEqual([
    { number: 1, at: null, text: "1 / x", isWarning: false },
    { number: 2, at: null, text: "    ^", isWarning: false },
  ])
})

it("tells how much of a log was left out, from the line that says so", () => {
  expect(cutOf("one\n[1,234,567 bytes of this log are left out: it may have 16 MiB]\nlast\n")).toEqual({ bytes: 1_234_567, mib: "16" })
  expect(cutOf("INFO 3 bytes of this log are left out\n")).toBeNull()
})
