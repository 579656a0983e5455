import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { job } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { JobPlan } from "./job-plan"

it("says up to when a range without an end was read", async () => {
  const request = { type: "replay", cluster: "local", source: { topic: "orders" }, target: { topic: "staging" } }
  // Resumed since: it goes on with the plan of its first run
  const runs = { attempt: 2, planned_at: "2026-11-21T06:00:00Z", started_at: "2026-11-21T06:30:00Z", finished_at: "2026-11-21T07:00:00Z" }
  renderApp(<JobPlan job={job("j1", { state: "succeeded", request, ...runs })} />, { at: "/jobs/j1?zone=UTC" })
  expect(await screen.findByText(/the oldest – the end at .*06:00/)).toBeTruthy()
})

it.each([
  ["replay", {}, "/topics/staging?cluster=rmq49"],
  ["replay", { cluster: "other" }, "/topics/staging?cluster=other"],
  ["redrive", {}, "/topics/staging?cluster=rmq49"],
] as const)("leads to the topic that a %s writes: %o", async (type, more, href) => {
  const request = { type, source: { topic: "orders" }, target: { topic: "staging", ...more } }
  renderApp(<JobPlan job={job("j1", { type, cluster: "rmq49", request })} />, { at: "/jobs/j1" })
  expect((await screen.findByRole("link", { name: "staging" })).getAttribute("href")).toBe(href)
})

it.each([
  ["replay", 50, "50/s"],
  ["replay", null, "no limit"],
  ["redrive", 50, "50/s"],
] as const)("says which rate is in force for a %s whatever was asked for: %s", async (type, limit, words) => {
  const request = { type, source: { topic: "orders" }, target: { topic: "staging" }, limits: { messages_per_second: 200, max_messages: 7 } }
  renderApp(<JobPlan job={job("j1", { type, request, limits: { messages_per_second: limit } })} />, { at: "/jobs/j1" })
  expect(await screen.findByText(words)).toBeTruthy()
  expect(screen.queryByText("200/s")).toBeNull()
})

it.each([
  [{ attempt: 2, planned_at: null }, "the oldest – the end when its plan was made"],
  [{ attempt: 0, planned_at: null, started_at: null, state: "queued" }, "the oldest – now"],
] as const)("tells no moment of an end that nobody noted: %o", async (runs, words) => {
  const request = { type: "replay", cluster: "local", source: { topic: "orders" }, target: { topic: "staging" } }
  renderApp(<JobPlan job={job("j1", { request, ...runs })} />, { at: "/jobs/j1" })
  expect(await screen.findByText(new RegExp(words))).toBeTruthy()
})

it("says how copies differ from their originals", async () => {
  const transform = { tag: "upper(tag)", properties: { region: "'eu'" } }
  const target = { topic: "staging", transform, order: "key", preserve: ["unique_id", "born_at"] }
  const request = { type: "replay", cluster: "local", source: { topic: "orders", keys_file: "keys.txt" }, target }
  renderApp(<JobPlan job={job("j1", { state: "succeeded", request })} />, { at: "/jobs/j1" })
  for (const words of ["tag = upper(tag)", "region = 'eu'", "by key", "message ID, sent time", "keys.txt"]) expect(await screen.findByText(words)).toBeTruthy()
})

it("says that it reads only what a comparison found missing, with a way to it", async () => {
  const request = { type: "replay", source: { topic: "orders", positions: { job: "06rec", file: "missing.jsonl" } }, target: { topic: "staging" } }
  renderApp(<JobPlan job={job("j1", { state: "succeeded", request })} />, { at: "/jobs/j1" })
  expect((await screen.findByRole("link", { name: "only what this reconciliation found missing" })).getAttribute("href")).toBe("/jobs/06rec")
  expect(screen.queryByText(/the oldest/)).toBeNull()
})

it("says which dead letters a redrive sends", async () => {
  const filter = { causes: ["timeout", null], topics: ["orders"], ids: ["A1", "B2"], key: "P-1", from: "2025-01-02T03:04:05Z" }
  const request = { type: "redrive", group: "billing", target: { to: "failed_group" }, limits: { messages_per_second: 200, max_messages: 10 }, filter }
  renderApp(<JobPlan job={job("j1", { type: "redrive", request })} />, { at: "/jobs/j1?zone=UTC" })
  for (const words of ["timeout", "none given", "orders", "2 messages", "P-1", /^2 Jan 2025 03:04.* – …$/]) expect(await screen.findByText(words)).toBeTruthy()
})

it("leads to the runs of the schedule that it is from", async () => {
  renderApp(<JobPlan job={job("j1", { schedule_id: "s1" })} schedule={(id) => `from ${id}`} />, { at: "/jobs/j1" })
  expect((await screen.findByRole("link", { name: "from s1" })).getAttribute("href")).toBe("/schedules?runs=s1")
})
