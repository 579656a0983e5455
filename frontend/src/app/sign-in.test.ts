import { expect, it } from "vitest"
import { nextOf, targetOf } from "./sign-in"

it("never nests the address of the sign-in page in itself", () => {
  expect(nextOf("/groups?sort=name")).toEqual({ next: "/groups?sort=name" })
  expect(nextOf("/login")).toEqual({})
  expect(nextOf(`/login?next=${encodeURIComponent("/groups?sort=name")}`)).toEqual({ next: "/groups?sort=name" })
  const twice = `/login?next=${encodeURIComponent(`/login?next=${encodeURIComponent("/jobs")}`)}`
  expect(nextOf(twice)).toEqual({ next: "/jobs" })
})

it.each([
  ["/jobs/j1", "/jobs/j1"],
  [undefined, "/"],
  ["//elsewhere.test", "/"],
  ["/\\elsewhere.test", "/"],
  ["https://elsewhere.test", "/"],
  ["/login?next=/jobs", "/"],
])("leads from next=%s to %s", (next, target) => expect(targetOf(next)).toBe(target))
