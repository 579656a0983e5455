import i18next from "i18next"
import { beforeEach, expect, it } from "vitest"
import { allWords, startTranslations } from "@/lib/i18n"
import { jobNameOf } from "./job-name"

beforeEach(async () => {
  await startTranslations("en")
  await allWords()
})

const redrive = { type: "redrive", name: "Redrive dead letters of billing", request: { type: "redrive", group: "billing" } } as const

it.each([
  ["en", "Redrive dead letters of billing"],
  ["zh", "重投 billing 的死信"],
])("names a redrive that nobody named in the reader's language (%s)", async (language, words) => {
  await startTranslations(language as "zh")
  await allWords()
  expect(jobNameOf(i18next.t, redrive)).toBe(words)
})

it("names a replay and a reconciliation of the API as those of the console", () => {
  const [left, right] = [{ topic: "orders" }, { topic: "copies" }]
  expect(jobNameOf(i18next.t, { type: "replay", name: "Replay orders to copies", request: { source: left, target: right } })).toBe("orders to copies")
  expect(jobNameOf(i18next.t, { type: "replay", name: "Replay orders to copies", request: { source: { ...left, positions: { job: "06rec" } }, target: right } })).toBe("orders to copies, the missing")
  expect(jobNameOf(i18next.t, { type: "replay", name: "Dry run: Replay orders to copies", request: { source: left, target: right } })).toBe("orders to copies")
  expect(jobNameOf(i18next.t, { type: "replay", name: "Replay orders to copies", request: { source: { ...left, positions: { job: "j1", file: "failures.jsonl" } }, target: right } })).toBe("orders to copies, the refused")
  expect(jobNameOf(i18next.t, { type: "export", name: "Export orders as jsonl", request: { source: left, format: "jsonl" } })).toBe("orders as JSON Lines")
  expect(jobNameOf(i18next.t, { type: "reconcile", name: "Reconcile orders with copies", request: { left, right } })).toBe("orders against copies")
})

it("names a reconciliation of other sides, and a check, as those of the console", () => {
  const [group, file, table] = [{ kind: "group", topic: "orders", group: "billing" }, { kind: "csv", path: "billed.csv" }, { kind: "postgresql", connection: "books", table: "ledger" }]
  expect(jobNameOf(i18next.t, { type: "reconcile", name: "Reconcile orders of billing with billed.csv", request: { left: group, right: file } })).toBe("orders (billing) against billed.csv")
  expect(jobNameOf(i18next.t, { type: "reconcile", name: "Reconcile books.ledger with billed.csv", request: { left: table, right: file } })).toBe("books.ledger against billed.csv")
  expect(jobNameOf(i18next.t, { type: "reconcile", name: "Check the store of local", request: { check: "store" }, cluster: "local" })).toBe("Check of the store of local")
})

it("leaves a name that somebody gave as it is", () => {
  expect(jobNameOf(i18next.t, { ...redrive, name: "the morning after" })).toBe("the morning after")
  expect(jobNameOf(i18next.t, { ...redrive, name: "Redrive dead letters of risk" })).toBe("Redrive dead letters of risk")
})
