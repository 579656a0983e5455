import { expect, it } from "vitest"
import { linesOf } from "./log"

it("puts the newest line first, takes its time apart, and marks warnings", () => {
  const lines = linesOf("2026-11-21T06:00:00.000Z INFO started\n2026-11-21 06:00:01,500 WARNING slow\nno time here\n")
  expect(lines).toEqual([
    { at: null, text: "no time here", isWarning: false },
    { at: "2026-11-21T06:00:01.500", text: "WARNING slow", isWarning: true },
    { at: "2026-11-21T06:00:00.000Z", text: "started", isWarning: false },
  ])
})
