import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, holdAnswer, refuse, requests } from "@/testing/server"
import { PurgeTopic } from "./purge-topic"

const PURGE = "POST /api/v1/clusters/local/topics/orders:purge"
const QUEUE = { broker: "broker-a", queue_id: 0, min_offset: 2, max_offset: 9, before: 9, messages: 7 }
const plan = (more: object = {}) => ({ queues: [QUEUE], messages: 7, bytes: 2048, groups: [], hidden_groups: 0, missing: [], brokers: [], ...more })
const show = () => {
  const onClose = vi.fn()
  return { onClose, ...renderApp(<PurgeTopic cluster="local" topic="orders" onClose={onClose} />, { at: "/topics/orders" }) }
}

describe("purging a topic", () => {
  it("says what each group loses, and nothing of those that lose nothing", async () => {
    const groups = [
      { name: "billing", unread: 3, reason: null },
      { name: "risk", unread: 0, reason: null },
      { name: "audit", unread: null, reason: "broker-b refused the connection" },
    ]
    answer(PURGE, plan({ groups, hidden_groups: 1 }))
    show()
    expect(await screen.findByText(/7 messages can no longer be read/)).toBeTruthy()
    expect(screen.getByText(/has not had 3 of them/)).toBeTruthy()
    expect(screen.getByText(/how many is unknown: broker-b refused the connection/)).toBeTruthy()
    expect(screen.queryByText("risk")).toBeNull()
    expect(screen.queryByText("Every group has consumed them.")).toBeNull()
  })

  it("purges the queues up to where the preview counted, after the name was typed", async () => {
    const groups = [{ name: "risk", unread: 0, reason: null }]
    answer(PURGE, plan({ groups, brokers: [{ broker: "broker-a", done: true, reason: null }] }))
    const { user, onClose } = show()
    expect(await screen.findByText("Every group has consumed them.")).toBeTruthy()
    await user.type(await findField("Type orders to continue"), "orders")
    await user.click(button("Purge orders"))
    expect(await screen.findByText("Topic orders was purged")).toBeTruthy()
    await waitFor(() => expect(onClose).toHaveBeenCalled())
    const sent = requests(PURGE).filter(({ query }) => query.get("dry_run") === null)
    expect(sent.map(({ body }) => body)).toEqual([{ queues: [{ broker: "broker-a", queue_id: 0, before: 9 }] }])
  })

  it("takes no press before it is known what would be lost, and none when that is nothing", async () => {
    let tell: (found: object) => void = () => undefined
    holdAnswer(PURGE, new Promise((resolve) => (tell = resolve)))
    const { user } = show()
    await user.type(await findField("Type orders to continue"), "orders")
    expect(button("Purge orders").disabled).toBe(true)
    tell(plan({ messages: 0 }))
    expect(await screen.findByText("The topic has no message that can be read.")).toBeTruthy()
    expect(button("Purge orders").disabled).toBe(true)
  })

  it("does not take a topic that no group consumes for one that everybody has read", async () => {
    answer(PURGE, plan())
    show()
    expect(await screen.findByText("No group consumes this topic: nobody has read them.")).toBeTruthy()
    expect(screen.queryByText("Every group has consumed them.")).toBeNull()
  })

  it("says that the loss is not known, instead of none", async () => {
    refuse(PURGE, 422, "NOT_SERVED_BY_BROKER", "The broker at 10.0.0.1:10911 cannot purge a topic; Gantry can.")
    show()
    expect(await screen.findByText("It is not known what the purge would remove")).toBeTruthy()
    expect(screen.queryByText("Every group has consumed them.")).toBeNull()
  })
})
