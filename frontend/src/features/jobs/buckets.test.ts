import { expect, it } from "vitest"
import { barsOf } from "./buckets"

const MINUTE = 60_000

it("draws every step between the first and the last bucket, and not what matched", () => {
  const bars = barsOf({ size_ms: MINUTE, times: [0, 3 * MINUTE], classes: { matched: [90, 80], different: [0, 2], missing_right: [5, 1], late: [0, 0] }, without_time: {} })
  expect(bars?.times).toEqual([0, 60, 120, 180])
  expect(bars?.range).toEqual([-600, 840])
  expect(bars?.series).toEqual([
    { tile: "missing_right", values: [5, 0, 0, 1] },
    { tile: "different", values: [0, 0, 0, 2] },
  ])
})

it("draws nothing where everything matches or no message has a time", () => {
  expect(barsOf({ size_ms: MINUTE, times: [0], classes: { matched: [90] }, without_time: {} })).toBeNull()
  expect(barsOf({ size_ms: MINUTE, times: [], classes: {}, without_time: { different: 3 } })).toBeNull()
})
