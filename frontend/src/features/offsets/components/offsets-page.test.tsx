import { screen, waitFor, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { OffsetsPage } from "./offsets-page"

const BASE = "/api/v1/clusters/local/groups/billing/offsets"
const sent = (verb: string) => requests(`POST ${BASE}:${verb}`).map(({ body }) => body)
const row = (queue_id: number, to: number) => ({ broker: "broker-a", queue_id, current: 100, new: to, delta: to - 100, min: 0, max: 120, to_replay: Math.max(0, 100 - to), skipped: Math.max(0, to - 100), warning: null })
const plan = (queues: ReturnType<typeof row>[], plan_id = "p1") => ({
  plan_id, expires_at: "2026-11-21T06:05:00Z", group: "billing", topic: "orders", mode: "shift", members: 2, unknown: [], queues,
  to_replay: queues.reduce((sum, { to_replay }) => sum + to_replay, 0),
  skipped: queues.reduce((sum, { skipped }) => sum + skipped, 0),
})
const page = () => renderApp(<OffsetsPage cluster="local" group="billing" topics={["orders"]} groups={["billing", "audit"]} />, { at: "/?topic=orders&mode=shift&shift=-60" })

it("shows what a change would do, and applies it to the queues that stayed ticked", async () => {
  answer(`GET ${BASE}/snapshots`, { items: [] })
  answer(`POST ${BASE}:preview`, plan([row(0, 40), row(1, 110)]))
  const { user } = page()
  expect(screen.queryByRole("button", { name: /Apply/ })).toBeNull()
  await user.click(await screen.findByRole("button", { name: "Preview" }))
  expect(await screen.findByRole("button", { name: "Apply to 2 queues" })).toBeTruthy()
  expect(sent("preview").at(-1)).toEqual({ topic: "orders", mode: "shift", shift: -60 })
  for (const words of ["60 again", "10 skipped", "2 connected"]) expect(screen.getByText(words)).toBeTruthy()

  answer(`POST ${BASE}:preview`, plan([row(0, 40)], "p2"))
  await user.click(screen.getByRole("checkbox", { name: "Move queue broker-a/1" }))
  const button = await screen.findByRole("button", { name: "Apply to 1 queue" })
  expect(sent("preview").at(-1)).toEqual({ topic: "orders", mode: "shift", shift: -60, queues: [{ broker: "broker-a", queue_id: 0 }] })
  expect(within(screen.getByRole("group", { name: "Before and after" })).getByText("stays")).toBeTruthy()

  answer(`POST ${BASE}:apply`, { snapshot_id: "s1", group: "billing", topic: "orders", queues: [{ broker: "broker-a", queue_id: 0, before: 100, after: 40, done: true, reason: null }] })
  await user.click(button)
  expect(await screen.findByText("Group billing was moved")).toBeTruthy()
  expect(sent("apply")).toEqual([{ plan_id: "p2", strict: false }])
  expect(screen.queryByRole("button", { name: /Apply/ })).toBeNull()
})

it("begins with the topic of a group that has one", async () => {
  answer(`GET ${BASE}/snapshots`, { items: [] })
  answer(`POST ${BASE}:preview`, plan([row(0, 40)]))
  const { user } = renderApp(<OffsetsPage cluster="local" group="billing" own={["orders"]} topics={["orders", "payments"]} groups={[]} />, { at: "/?mode=earliest" })
  expect(((await screen.findByRole("combobox", { name: "Topic" })) as HTMLInputElement).value).toBe("orders")
  await user.click(screen.getByRole("button", { name: "Preview" }))
  expect(sent("preview").at(-1)).toEqual({ topic: "orders", mode: "earliest" })
})

it("names the first queue that did not move, and why", async () => {
  answer(`GET ${BASE}/snapshots`, { items: [] })
  answer(`POST ${BASE}:preview`, plan([row(0, 40), row(1, 40)]))
  const moved = { broker: "broker-a", queue_id: 0, before: 100, after: 40, done: true, reason: null }
  answer(`POST ${BASE}:apply`, { snapshot_id: "s1", group: "billing", topic: "orders", queues: [moved, { ...moved, queue_id: 1, done: false, reason: "broker-a is too busy to answer" }] })
  const { user } = page()
  await user.click(await screen.findByRole("button", { name: "Preview" }))
  await user.click(await screen.findByRole("button", { name: "Apply to 2 queues" }))
  expect(await screen.findByText("Group billing: 1 of 2 queues were moved")).toBeTruthy()
  expect(screen.getByText(/broker-a is too busy/)).toBeTruthy()
})

it("says what the way back from a change does before it goes it, once", async () => {
  const queues = [{ broker: "broker-a", queue_id: 0, before: 110, after: 100, done: true, reason: null }, { broker: "broker-a", queue_id: 1, before: null, after: 0, done: true, reason: null }]
  const change = { snapshot_id: "s1", topic: "orders", mode: "earliest", created_by: "olga", created_at: "2026-11-21T06:00:00Z", undone_at: null, queues }
  answer(`GET ${BASE}/snapshots`, { items: [change, { ...change, snapshot_id: "s0", undone_at: "2026-11-21T06:01:00Z" }] })
  answer(`POST ${BASE}:preview`, plan([row(0, 110)]))
  const undone = queues.map((each) => ({ ...each, before: each.after, after: each.before ?? each.after }))
  answer(`POST ${BASE}:undo`, { snapshot_id: "s2", group: "billing", topic: "orders", queues: undone })
  const { user } = page()
  await user.click(await screen.findByRole("button", { name: "Undo" }))
  const back = await screen.findByRole("button", { name: "Restore 1 queue" })
  expect(sent("preview").at(-1)).toEqual({ topic: "orders", mode: "offset", offsets: [{ broker: "broker-a", queue_id: 0, offset: 110 }], queues: [{ broker: "broker-a", queue_id: 0 }] })
  const dialog = screen.getByRole("dialog")
  for (const words of ["100 → 110", "Will be skipped", "10", "2 connected"]) expect(within(dialog).getByText(words)).toBeTruthy()
  expect(sent("undo")).toEqual([])
  await user.click(back)
  await waitFor(() => expect(sent("undo")).toEqual([{ snapshot_id: "s1" }]))
  expect(screen.getByText("undone")).toBeTruthy()
  expect(await screen.findByText("Group billing is back at its offsets before the change")).toBeTruthy()
  expect(screen.getByText("1 queue")).toBeTruthy()
})

it("does not move a group back while nobody knows what that does", async () => {
  const queues = [{ broker: "broker-a", queue_id: 0, before: 110, after: 100, done: true, reason: null }]
  answer(`GET ${BASE}/snapshots`, { items: [{ snapshot_id: "s1", topic: "orders", mode: "latest", created_by: "olga", created_at: "2026-11-21T06:00:00Z", undone_at: null, queues }] })
  refuse(`POST ${BASE}:preview`, 422, "NO_EFFECT", "The group is at these offsets already.")
  const { user } = page()
  await user.click(await screen.findByRole("button", { name: "Undo" }))
  const dialog = await screen.findByRole("dialog")
  expect(await within(dialog).findByText(/at these offsets already/)).toBeTruthy()
  expect(within(dialog).getByRole<HTMLButtonElement>("button", { name: "Undo" }).disabled).toBe(true)
})
