import { expect, it } from "vitest"
import { redriveFormOf } from "./redrive-state"

it("fills the form of a redrive with all that it was asked", () => {
  const filter = { causes: ["db down", null], topics: ["orders", "refunds"], ids: ["A1"], key: "K-1", from: "2026-11-21T06:00:00Z", to: "2026-11-21T07:00:00Z" }
  const limits = { messages_per_second: 50, max_messages: 10, max_minutes: 5 }
  const request = { type: "redrive", cluster: "local", group: "billing", filter, target: { to: "other", topic: "again" }, limits, originals: "kept", allow_live_target: true }
  expect(redriveFormOf(request)).toEqual({
    lost: [],
    state: {
      group: "billing", causes: '["db down",null]', origins: "orders refunds", ids: "A1", key: "K-1", from: "2026-11-21T06:00:00Z", to: "2026-11-21T07:00:00Z",
      send: "other", topic: "again", rate: "50", max: "10", minutes: "5", originals: "kept", allow: "yes",
    },
  })
})

it("leaves out what a redrive was not asked, and names what the form has no field for", () => {
  const request = { type: "redrive", cluster: "local", group: "billing", filter: { tag: "a" }, target: { to: "origin" }, originals: "until_consumed", allow_live_target: false, notify: {} }
  expect(redriveFormOf(request)).toEqual({ state: { group: "billing", send: "origin" }, lost: ["notify", "tag"] })
})
