import { screen } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import type { Timeline, TimelineEvent } from "@/lib/api-types"
import { message } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { DeliverMessage } from "./deliver-message"
import { MessageBody } from "./message-body"
import { MessageLife } from "./message-life"
import { MessageView } from "./message-view"

const LIFE = "GET /api/v1/clusters/local/messages/AC11/timeline"
const DELIVER = "POST /api/v1/clusters/local/messages/AC11:deliver"
const event = (overrides: Partial<TimelineEvent>): TimelineEvent => ({
  at: null, kind: "consumed", message_id: null, group: "billing", topic: null, broker: null, queue_id: null, offset: null, host: null, tries: null, reason: null, by: null, job: null, ...overrides,
})

describe("the life of a message", () => {
  it("names what happened, who did it, and what nobody recorded", async () => {
    const life: Timeline = {
      events: [event({ kind: "dead", at: "2026-11-21T06:00:00.000Z", topic: "%DLQ%billing", queue_id: 0, offset: 3, reason: "smtp 451" }), event({})],
      groups: [],
      complete: true,
      missing: [],
      not_known: ["Brokers do not record when a group consumed a message."],
    }
    answer(LIFE, life)
    renderApp(<MessageLife cluster="local" message={message("AC11")} />)
    expect(await screen.findByText("Given up by billing")).toBeDefined()
    expect(screen.getByText(/smtp 451/)).toBeDefined()
    expect(screen.getByText("—")).toBeDefined()
    expect(screen.getByText(/do not record when/)).toBeDefined()
  })
})

it("says between sending and storing what a message waited for", async () => {
  const at = "2026-11-21T06:00:00.000Z"
  answer(LIFE, { events: [event({ kind: "due", at, group: null }), event({ kind: "committed", at })], groups: [], complete: true, missing: [], not_known: [] })
  renderApp(<MessageView cluster="local" message={message("AC11")} />)
  expect(await screen.findByText("Its time came: until then it waited, unseen by consumers")).toBeDefined()
  const [first] = screen.getAllByRole("list").filter((list) => list.textContent.includes("Sent by"))
  expect(first?.textContent).toMatch(/Sent by.*Its time came.*Committed: until then a half message.*Stored in/)
})

it("says of a try again when its copy was stored, and how long that was after the sending", async () => {
  const events = [event({ kind: "retried", at: "2026-11-21T06:00:01.250Z", topic: "%RETRY%billing", queue_id: 0, offset: 3 })]
  answer(LIFE, { events, groups: [], complete: true, missing: [], not_known: [] })
  renderApp(<MessageLife cluster="local" message={message("AC11", { born_at: "2026-11-21T06:00:00.000Z" })} />)
  expect(await screen.findByText("Stored for another try of billing")).toBeDefined()
  expect(screen.getByText("+1,250 ms")).toBeDefined()
})

describe("a delivery to one client", () => {
  it("shows what the client made of the message", async () => {
    answer(DELIVER, { group: "billing", client_id: "10.0.0.7@1", result: "exception", remark: "no more", spent_ms: 12, in_order: false })
    const { user } = renderApp(<DeliverMessage cluster="local" message={message("AC11")} onClose={vi.fn<() => void>()} />)
    await user.type(await screen.findByLabelText("Group"), "billing")
    await user.click(button("Deliver"))
    expect(await screen.findByText("exception")).toBeDefined()
    expect(screen.getByText("no more")).toBeDefined()
    expect(requests(DELIVER)[0]?.body).toEqual({ topic: "orders", group: "billing" })
  })
})

describe("the tree of a body", () => {
  it("shows numbers and repeated names as they are stored", async () => {
    const text = '{"id": 12345678901234567890123, "price": 1.10, "price": 2}'
    renderApp(<MessageBody message={message("AC11", { body: { encoding: "json", data: JSON.parse(text) as unknown, text } })} />)
    expect(await screen.findByText("12345678901234567890123")).toBeDefined()
    expect(screen.getByText("1.10")).toBeDefined()
    expect(screen.getAllByText("price")).toHaveLength(2)
  })
})
