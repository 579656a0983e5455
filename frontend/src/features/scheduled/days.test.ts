import { expect, it } from "vitest"
import { dayBounds, hourBounds, leftUntil, spansOf } from "./days"

const at = (text: string) => Date.parse(text)

it("has fourteen days from the midnight of the zone, also where one has 25 hours", () => {
  const bounds = dayBounds(at("2026-10-24T10:00:00Z"), "Europe/Berlin")
  expect(bounds).toHaveLength(15)
  expect(bounds[0]).toBe(at("2026-10-23T22:00:00Z"))
  expect((bounds[2] ?? 0) - (bounds[1] ?? 0)).toBe(25 * 3_600_000)
  expect(hourBounds({ from: bounds[1] ?? 0, to: bounds[2] ?? 0 })).toHaveLength(26)
})

it("counts what is due in each span, and names the topic that makes all of it", () => {
  const bounds = [at("2026-11-21T00:00:00Z"), at("2026-11-22T00:00:00Z"), at("2026-11-23T00:00:00Z")]
  const bucket = (from: string, topic: string, due: number) => ({ from, topic, due })
  const spans = spansOf(bounds, [
    bucket("2026-11-21T00:00:00Z", "orders", 2),
    bucket("2026-11-21T23:00:00Z", "payments", 3),
    bucket("2026-11-22T05:00:00Z", "orders", 4),
    bucket("2026-11-23T00:00:00Z", "orders", 9),
  ])
  expect(spans.map(({ due, onlyTopic }) => [due, onlyTopic])).toEqual([[5, null], [4, "orders"]])
})

it("counts down in whole seconds, and no further than to zero", () => {
  expect(leftUntil("2026-11-21T00:00:05Z", at("2026-11-21T00:00:03.400Z"))).toBe(2_000)
  expect(leftUntil("2026-11-21T00:00:05Z", at("2026-11-21T00:00:07Z"))).toBe(0)
})
