import { expect, it } from "vitest"
import { exportAddress } from "./export-address"

const NOW = Date.parse("2026-11-21T06:00:00Z")
const address = (state: Record<string, string>, bodies = false) => exportAddress("local", state, NOW)?.("csv", bodies)

it("asks the server for all that the address finds", () => {
  expect(address({ topic: "orders", key: "A 17", span: "1h" })).toBe(
    "/api/v1/clusters/local/messages:export?topic=orders&key=A+17&from=2026-11-21T05%3A00%3A00.000Z&as=csv",
  )
  expect(address({ mode: "content", topic: "orders", where: "$.n >= 12345678901234567890123", span: "all" }, true)).toBe(
    "/api/v1/clusters/local/topics/orders/messages:export?filter=%24.n+%3E%3D+12345678901234567890123&as=csv&bodies=true",
  )
  expect(address({ mode: "time", topic: "orders", queue: "1", span: "all" })).toBe("/api/v1/clusters/local/topics/orders/messages:export?queue=1&as=csv")
})

it("has nothing to save before the search is whole, and for one message", () => {
  expect(address({ topic: "orders" })).toBeUndefined()
  expect(address({ mode: "id", topic: "orders", id: "AC11" })).toBeUndefined()
})
