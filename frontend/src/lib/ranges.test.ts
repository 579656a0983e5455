import { expect, it } from "vitest"
import { RANGE_MS, RANGES, rangeOf } from "./ranges"

it("takes a range of the address, and the usual one for anything else", () => {
  expect(RANGES.map((range) => rangeOf(range, "1h"))).toEqual(RANGES)
  expect([undefined, "", "2h", "1H", "constructor"].map((text) => rangeOf(text, "6h"))).toEqual(["6h", "6h", "6h", "6h", "6h"])
})

it("goes from the shortest to the longest, as each is called", () => {
  expect(RANGES.map((range) => RANGE_MS[range] / 60_000)).toEqual([15, 60, 360, 1_440, 10_080])
})
