import { expect, it } from "vitest"
import { addressOf, isSameQuery, savedQueryOf } from "./saved-query"

it("saves what is looked for, and nothing that only shows it", () => {
  const state = { mode: "content", topic: "orders", where: "tag = paid", open: "AC11", view: "hex", key: "A17", span: "24h" }
  expect(savedQueryOf(state)).toEqual({ mode: "content", topic: "orders", where: "tag = paid", span: "24h" })
  expect(savedQueryOf({ topic: "orders", key: "A17", from: "2026-11-21T06:00:00Z" })).toEqual({ mode: "key", topic: "orders", key: "A17", from: "2026-11-21T06:00:00Z" })
  expect(savedQueryOf({ mode: "offset", topic: "orders", queue: "0", offset: "7", span: "1h" })).toEqual({ mode: "offset", topic: "orders", queue: "0", offset: "7" })
})

it("saves no search that could not be run", () => {
  expect(savedQueryOf({ topic: "orders" })).toBeNull()
  expect(savedQueryOf({ mode: "content", topic: "orders", where: "colour = red" })).toBeNull()
})

it("is opened on the cluster where it was saved", () => {
  const search = { id: 7, name: "paid", cluster: "east", query: { mode: "time", topic: "orders" }, created_at: "", updated_at: "", etag: "" }
  expect(addressOf(search, "local")).toEqual({ mode: "time", topic: "orders", cluster: "east", saved: "7" })
  expect(isSameQuery(search.query, { topic: "orders", mode: "time" })).toBe(true)
  expect(isSameQuery(search.query, { topic: "orders", mode: "time", queue: "1" })).toBe(false)
})
