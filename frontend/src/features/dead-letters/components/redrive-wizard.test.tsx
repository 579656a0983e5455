import { fireEvent, screen, waitFor } from "@testing-library/react"
import { beforeEach, expect, it } from "vitest"
import { admin, job, reader } from "@/testing/factories"
import { button, choose, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { RedriveWizard } from "./redrive-wizard"

const BASE = "/api/v1/clusters/local/dead-letters"
const START = `POST ${BASE}/billing:redrive`
const AT = "2026-11-21T06:00:00Z"
const cause = (reason: string | null, count: number) => ({ reason, read_from: reason === null ? "none" : "reason", count, topics: ["orders"], first_at: AT, last_at: AT, last_message_id: "M" })
const group = { name: "billing", messages: 1_418, first_at: AT, last_at: AT, topics: ["orders"], top_cause: cause("db down", 8), causes: 2, read: 12, retries_waiting: 3, unknown_reason: null }
const letter = (id: string) => ({ topic: "%DLQ%billing", message_id: id, stored_at: AT, keys: [`key of ${id}`], origin_topic: "orders", cause: "db down", broker: "broker-a", queue_id: 0, queue_offset: id.length })
const preview = (others: object = {}) => ({
  messages: 8, bytes: 800, causes: 1, failing: 0, skipped: 0, takes_ms: 40, topics: [], groups: [{ name: "billing", topics: [], failed: true }],
  hidden_groups: 0, needs_allow_live_target: false, warning: null, first: [letter("M-1")], last: [letter("M-last")], read: 12, stored: 12, complete: true, missing: [], ...others,
})
const sent = () => requests(START).map(({ body }) => body as Record<string, unknown>)
const wizard = (query: string, me = admin()) => renderApp(<RedriveWizard cluster="local" topics={["orders", "again"]} />, { at: `/jobs/new/redrive?zone=UTC${query}`, me })

beforeEach(() => {
  answer(`GET ${BASE}`, { items: [group], next_cursor: null, total: 1, messages: 1_418, groups: 38 })
  answer(`GET ${BASE}/billing/causes`, { items: [cause("db down", 8), cause(null, 4)], read: 12, stored: 12, complete: true, missing: [] })
  answer("GET /api/v1/clusters/local/groups/billing", { clients: 1 })
  answer(START, preview())
})

it("chooses a group by how many dead letters it has, and shows what would be sent", async () => {
  const { user, address } = wizard("")
  await user.click(await findField("Group"))
  expect(await screen.findByText("1,418")).toBeTruthy()
  await user.click(screen.getByText("billing"))
  expect(await screen.findByText("1,418 dead letters")).toBeTruthy()
  expect(await screen.findByText("8 of 12 dead letters; nothing is sent yet")).toBeTruthy()
  expect(screen.getByText("key of M-1")).toBeTruthy()
  await user.click(screen.getByText("The last ten"))
  expect(screen.getByText("key of M-last")).toBeTruthy()
  expect(address()).toContain("group=billing")
  expect(sent().at(-1)).toEqual({ filter: {}, target: { to: "failed_group" }, limits: { messages_per_second: 200 }, dry_run: true })
})

it("asks for what the fields say, and for nothing that was left empty", async () => {
  const { user } = wizard("&group=billing&from=2026-11-21T06:00:00.000Z")
  await choose(user, await findField("Causes"), "no reason given (4)")
  fireEvent.change(field("Key"), { target: { value: "A17" } })
  fireEvent.change(field("Message IDs"), { target: { value: "M-1\nM-2" } })
  await waitFor(() =>
    expect(sent().at(-1)).toEqual({
      filter: { causes: [null], ids: ["M-1", "M-2"], key: "A17", from: "2026-11-21T06:00:00.000Z" },
      target: { to: "failed_group" },
      limits: { messages_per_second: 200 },
      dry_run: true,
    }),
  )
})

it("says at the field what is wrong, here and at the server", async () => {
  refuseFields(START, { "filter/key": "must be shorter" })
  const { user } = wizard("&group=billing&key=A17&from=2026-11-21T06:00:00.000Z")
  await waitFor(() => expect(errorOf(field("Key"))).toBe("must be shorter"))
  await retype(user, field("To"), "2026-11-21 05:00:00")
  await waitFor(() => expect(errorOf(field("To"))).toBe("The end must be later than the start"))
  expect(button("Next: Send to").disabled).toBe(true)
})

it("asks for a topic where another one is chosen, and hands no body on without the right", async () => {
  const { user } = wizard("&group=billing&step=send")
  await user.click(await screen.findByRole("radio", { name: "Other" }))
  await waitFor(() => expect(button("Next: Limits").disabled).toBe(true))
  await choose(user, field("Topic to write"), "again")
  await waitFor(() => expect(sent().at(-1)).toMatchObject({ target: { to: "other", topic: "again" } }))
})

it("does not offer to hand bodies on without the right to read them", async () => {
  const me = admin()
  wizard("&group=billing&step=send", { ...me, rights: me.rights.filter((right) => right !== "bodies") })
  expect(((await screen.findByRole("radio", { name: "Original topic" })) as HTMLInputElement).disabled).toBe(true)
  expect(screen.getByText(/they need the right/)).toBeTruthy()
})

it("keeps to the limits of a redrive", async () => {
  const { user } = wizard("&group=billing&step=limits")
  await retype(user, await findField("Messages a second"), "20000")
  await waitFor(() => expect(errorOf(field("Messages a second"))).toBe("A whole number from 1 to 10,000"))
  expect(button("Next: Start").disabled).toBe(true)
})

it("shows where the group goes in its request while none is chosen", async () => {
  wizard("")
  expect(await screen.findByText(/dead-letters\/GROUP:redrive/)).toBeTruthy()
})

it("limits how long it may work", async () => {
  const { user } = wizard("&group=billing&step=limits")
  await retype(user, await findField("Works at most"), "90")
  await waitFor(() => expect(sent().at(-1)).toMatchObject({ limits: { messages_per_second: 200, max_minutes: 90 } }))
  expect(screen.getByText("200/s, 90 min")).toBeTruthy()
})

it("starts what was rehearsed, once the other groups are allowed, and follows it", async () => {
  answer(START, preview({ groups: [{ name: "shipping", topics: ["orders"], failed: false }], needs_allow_live_target: true }))
  const { user, address } = wizard("&group=billing&send=origin&originals=kept&max=5&step=start")
  const start = await screen.findByRole("button", { name: "Redrive 8 messages" })
  expect((start as HTMLButtonElement).disabled).toBe(true)
  await user.click(screen.getByRole("checkbox", { name: "shipping may process them again" }))
  answer(START, job("r9", { type: "redrive" }), 202)
  await user.click(await screen.findByRole("button", { name: "Redrive 8 messages" }))
  await waitFor(() => expect(address()).toMatch(/^\/jobs\/r9/))
  expect(sent()).toContainEqual({
    filter: {}, target: { to: "origin" }, limits: { messages_per_second: 200, max_messages: 5 }, originals: "kept", allow_live_target: true,
  })
})

it("has nothing to start where every one was sent before", async () => {
  answer(START, preview({ messages: 0, skipped: 12, first: [], last: [] }))
  wizard("&group=billing&step=start")
  expect(await screen.findByText("12 messages were sent by earlier redrives.")).toBeTruthy()
  expect(button("Redrive 0 messages").disabled).toBe(true)
})

it("is locked without the right to redrive", async () => {
  wizard("", reader())
  expect((await findField("Group")).closest("fieldset")?.disabled).toBe(true)
})

it("does not say that none is left while no broker answers", async () => {
  answer(START, preview({ messages: 0, bytes: 0, causes: 0, groups: [], first: [], last: [], read: 0, stored: null, complete: false, missing: [{ broker: "broker-a", reason: "timeout", since: null }] }))
  wizard("&group=billing&step=start")
  expect(await screen.findByText("broker-a does not answer: timeout")).toBeTruthy()
  expect(screen.getByText("No dead letter of billing could be read, as its brokers do not answer.")).toBeTruthy()
  expect(screen.getAllByText("Not known").length).toBeGreaterThan(1)
  expect([screen.queryByText(/can be redriven/), screen.queryByText(/is left to send/)]).toEqual([null, null])
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Redrive" }).disabled).toBe(true)
})
