import { expect, it } from "vitest"
import type { RoleRule } from "@/lib/api-types"
import { changesOf, cycled, effectOf } from "./role-draft"

const orders: RoleRule = { kind: "topic", pattern: "orders*", allow: ["read"], refuse: [] }

it("goes from nothing said over allowed and refused back to nothing", () => {
  const allowed = cycled(orders, "bodies")
  const refused = cycled(allowed, "bodies")
  expect([allowed, refused, cycled(refused, "bodies")].map((rule) => effectOf(rule, "bodies"))).toEqual(["allow", "refuse", "none"])
  expect(cycled(refused, "bodies")).toEqual(orders)
})

it("lists each changed cell, also of rules that are new or gone", () => {
  const billing: RoleRule = { kind: "group", pattern: "billing", allow: ["offsets"], refuse: ["delete"] }
  expect(changesOf([orders], [orders])).toEqual([])
  expect(changesOf([orders], [cycled(orders, "bodies")])).toEqual([{ rule: cycled(orders, "bodies"), verb: "bodies", effect: "allow" }])
  expect(changesOf([orders], [orders, billing]).map(({ verb, effect }) => [verb, effect])).toEqual([
    ["offsets", "allow"],
    ["delete", "refuse"],
  ])
  expect(changesOf([orders], [null])).toEqual([{ rule: orders, verb: "read", effect: "none" }])
})

it("compares nothing when the pattern became another one", () => {
  const other = { ...orders, pattern: "payments" }
  expect(changesOf([orders], [other])).toEqual([{ rule: other, verb: "read", effect: "allow" }])
})
