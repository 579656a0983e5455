import i18next from "i18next"
import { afterEach, expect, it } from "vitest"
import { jobNameOf } from "./job-name"

afterEach(() => i18next.changeLanguage("en"))

const redrive = { type: "redrive", name: "Redrive dead letters of billing", request: { type: "redrive", group: "billing" } } as const

it.each([
  ["en", "Redrive dead letters of billing"],
  ["zh", "重投 billing 的死信"],
])("names a redrive that nobody named in the reader's language (%s)", async (language, words) => {
  await i18next.changeLanguage(language)
  expect(jobNameOf(i18next.t, redrive)).toBe(words)
})

it("names a replay and a reconciliation of the API as those of the console", () => {
  const [left, right] = [{ topic: "orders" }, { topic: "copies" }]
  expect(jobNameOf(i18next.t, { type: "replay", name: "Replay orders to copies", request: { source: left, target: right } })).toBe("orders to copies")
  expect(jobNameOf(i18next.t, { type: "replay", name: "Dry run: Replay orders to copies", request: { source: left, target: right } })).toBe("orders to copies")
  expect(jobNameOf(i18next.t, { type: "export", name: "Export orders as jsonl", request: { source: left, format: "jsonl" } })).toBe("orders as JSON Lines")
  expect(jobNameOf(i18next.t, { type: "reconcile", name: "Reconcile orders with copies", request: { left, right } })).toBe("orders against copies")
})

it("leaves a name that somebody gave as it is", () => {
  expect(jobNameOf(i18next.t, { ...redrive, name: "the morning after" })).toBe("the morning after")
  expect(jobNameOf(i18next.t, { ...redrive, name: "Redrive dead letters of risk" })).toBe("Redrive dead letters of risk")
})
