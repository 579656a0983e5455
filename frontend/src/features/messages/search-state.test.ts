import { describe, expect, it } from "vitest"
import { boundsOf, keySearchOf, modeOf, offsetBrowseOf, spanOf, timeBrowseOf } from "./search-state"

const NOW = Date.parse("2026-11-21T06:00:00Z")

describe("the address of a search", () => {
  it("is a search by key unless it says otherwise", () => {
    expect(modeOf({})).toBe("key")
    expect(modeOf({ mode: "nonsense" })).toBe("key")
    expect(modeOf({ mode: "time" })).toBe("time")
  })

  it("counts a span back from now; three days when it names none", () => {
    expect(boundsOf({}, NOW)).toEqual({ from: "2026-11-18T06:00:00.000Z" })
    expect(boundsOf({ span: "all" }, NOW)).toEqual({})
  })

  it("takes exact bounds before any span", () => {
    const state = { span: "1h", from: "2026-11-01T00:00:00Z" }
    expect(spanOf(state)).toBe("custom")
    expect(boundsOf(state, NOW)).toEqual({ from: "2026-11-01T00:00:00Z" })
  })

  it("asks nothing until it is whole", () => {
    expect(keySearchOf({ key: "A17" }, NOW)).toBeNull()
    expect(keySearchOf({ key: "A17", topic: "orders", span: "all" }, NOW)).toEqual({ topic: "orders", key: "A17" })
    expect(timeBrowseOf({ mode: "time" }, NOW)).toBeNull()
    expect(offsetBrowseOf({ mode: "offset", topic: "orders", queue: "2", offset: "x" })).toBeNull()
    expect(offsetBrowseOf({ mode: "offset", topic: "orders", queue: "2", offset: "1881" })).toEqual({ topic: "orders", queue: 2, offset: 1881 })
  })
})
