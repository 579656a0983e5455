import { describe, expect, it } from "vitest"
import { splitsBetween } from "./band-options"
import { silences, stacked } from "./stack"

describe("stacks", () => {
  it("add up from the first series", () => {
    expect(stacked([[1, 2], [3, 4]])).toEqual([[1, 2], [4, 6]])
  })

  it("take an unknown part as nothing, but a moment without any part as unknown", () => {
    expect(stacked([[1, null], [null, null]])).toEqual([[1, null], [1, null]])
  })
})

describe("silence", () => {
  it("reaches from the last known to the next known sample", () => {
    expect(silences([[1, null, null, 4]], 4)).toEqual([{ from: 0, to: 3 }])
  })

  it("is not silence while one series knows something", () => {
    expect(silences([[1, null, 3], [null, 2, null]], 3)).toEqual([])
  })
})

describe("levels of an axis", () => {
  it.each([
    [0, 340_000, { most: 4.5 }, [0, 100_000, 200_000, 300_000]],
    [0, 1.12, { most: 3.6 }, [0, 1]],
    [0, 1, { kind: "fraction", most: 3 }, [0, 0.5, 1]],
    [0, 640_000, { kind: "duration", most: 3.2 }, [0, 300_000, 600_000]],
  ] as const)("between %s and %s", (low, high, levels, splits) => {
    expect(splitsBetween(low, high, levels)).toEqual(splits)
  })
})
