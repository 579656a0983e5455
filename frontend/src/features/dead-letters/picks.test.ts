import { describe, expect, it } from "vitest"
import type { DeadLetterCause } from "@/lib/api-types"
import { onlyCause, picksOf, textOf, withCause, withGroup } from "./picks"
import { askedOf, isWhole, wishOf } from "./wish"

const causes = ["db down", null].map((reason) => ({ reason }) as DeadLetterCause)

describe("what is picked", () => {
  it("survives the address, and nonsense picks nothing", () => {
    const picks = { billing: ["db down", null], shipping: "all" as const }
    expect(picksOf(textOf(picks))).toEqual(picks)
    for (const text of [undefined, "{", "3", "null", '{"billing":[]}', '{"billing":[3]}']) expect(picksOf(text)).toEqual({})
    expect(textOf({})).toBeUndefined()
  })
  it("is a whole group until one of its causes is left out", () => {
    const whole = withGroup({}, "billing", true)
    expect(whole).toEqual({ billing: "all" })
    const some = withCause(whole, "billing", null, causes)
    expect(some).toEqual({ billing: ["db down"] })
    expect(withCause(some, "billing", "db down", causes)).toEqual({})
    expect(withGroup(whole, "billing", false)).toEqual({})
  })
  it("tells of one cause, which may be none given", () => {
    expect(onlyCause([null])).toBeNull()
    expect(onlyCause("all")).toBeUndefined()
    expect(onlyCause(["a", "b"])).toBeUndefined()
  })
})

describe("a wish", () => {
  it("asks for each picked group, at a rate, and allows other groups only where there may be some", () => {
    const wish = wishOf({ to: "origin", rate: "50", allow: "yes" })
    expect(askedOf({ billing: ["db down"], shipping: "all" }, wish)).toEqual([
      ["billing", { filter: { causes: ["db down"] }, target: { to: "origin" }, limits: { messages_per_second: 50 }, allow_live_target: true }],
      ["shipping", { filter: {}, target: { to: "origin" }, limits: { messages_per_second: 50 }, allow_live_target: true }],
    ])
    expect(askedOf({ billing: "all" }, wishOf({ allow: "yes" }))[0]?.[1]).toEqual({ filter: {}, target: { to: "failed_group" }, limits: { messages_per_second: 200 } })
  })
  it("is not whole without the topic that another one needs, or at a rate out of range", () => {
    expect(isWhole(wishOf({}))).toBe(true)
    expect(isWhole(wishOf({ to: "other" }))).toBe(false)
    expect(isWhole(wishOf({ to: "other", topic: "x" }))).toBe(true)
    for (const rate of ["0", "10001", "NaN", "1.5"]) expect(isWhole(wishOf({ rate }))).toBe(false)
  })
})
