import { expect, it } from "vitest"
import { begunOf } from "./begun"

it("counts from when an alert fired, also after a while without data", () => {
  const life = { since: "2026-05-01T08:27:00.000Z", fired_at: "2026-05-01T08:00:00.000Z" }
  expect(begunOf({ ...life, state: "firing" })).toBe(life.fired_at)
  expect(begunOf({ ...life, state: "no_data" })).toBe(life.since)
  expect(begunOf({ since: life.since, fired_at: null, state: "firing" })).toBe(life.since)
})
