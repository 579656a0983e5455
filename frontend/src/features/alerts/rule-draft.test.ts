import { expect, it } from "vitest"
import { faultsOf, inUnits, newDraft } from "./rule-draft"

const whole = { ...newDraft("local", "billing"), name: "billing lag" }

it("finds nothing wrong with a whole draft, never as an answer included", () => {
  expect(faultsOf(whole)).toEqual({})
  expect(faultsOf({ ...whole, noDataSeconds: undefined, repeatMinutes: undefined })).toEqual({})
})

it("finds every field that cannot be sent", () => {
  const wrong = { ...whole, name: " ", cluster: "", subject: "", limit: -1, forSeconds: 86_401, noDataSeconds: 4, repeatMinutes: Number.NaN }
  expect(Object.keys(faultsOf(wrong))).toEqual(["name", "cluster", "subject", "limit", "for", "noData", "repeat"])
  expect(faultsOf({ ...whole, limit: Number.NaN, noDataSeconds: Number.NaN })).toEqual({ limit: { kind: "noNumber" }, noData: { kind: "range" } })
  expect(faultsOf({ ...whole, metric: "group_time_lag_ms", limit: 1e13 }).limit).toEqual({ kind: "atMost", n: 1e12 })
})

it("says the bounds of the API in the units of the form", () => {
  const most = (n: number) => `Ensure this value is less than or equal to ${n}.`
  expect(inUnits({ for_ms: most(86_400_000), repeat_ms: most(604_800_000), limit: most(1e15), name: "It is taken." }, "group_time_lag_ms")).toEqual({
    for_ms: most(86_400), repeat_ms: most(10_080), limit: most(1e12), name: "It is taken.",
  })
})
