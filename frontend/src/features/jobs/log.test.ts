import { expect, it } from "vitest"
import { cutOf, linesOf } from "./log"

it("puts the newest line first, takes its time apart, and marks warnings", () => {
  const lines = linesOf("2026-11-21T06:00:00.000Z INFO started\n2026-11-21 06:00:01,500 WARNING slow\nno time here\n")
  expect(lines).toEqual([
    { at: null, text: "no time here", isWarning: false },
    { at: "2026-11-21T06:00:01.500", text: "WARNING slow", isWarning: true },
    { at: "2026-11-21T06:00:00.000Z", text: "started", isWarning: false },
  ])
})

it("tells how much of a log was left out, from the line that says so", () => {
  expect(cutOf("one\n[1,234,567 bytes of this log are left out: it may have 16 MiB]\nlast\n")).toEqual({ bytes: 1_234_567, mib: "16" })
  expect(cutOf("INFO 3 bytes of this log are left out\n")).toBeNull()
})
