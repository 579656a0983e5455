import { act, screen } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { FakeSocket } from "@/testing/socket"
import { LivePage } from "./live-page"

const AT = "2026-11-21T06:31:07.412Z"
const message = (offset: number, overrides: object = {}) => ({
  type: "message", message_id: `AC1100000000000000${offset}`, topic: "orders", broker: "a", queue_id: 0, offset, stored_at: AT, tag: "paid",
  keys: [`A${offset}`], size_bytes: 90, reconsume_times: 0, properties: {}, body: { encoding: "json", data: { n: offset } }, body_hidden: null, unjudged: null,
  ...overrides,
})

const show = (at: string) =>
  renderApp(<LivePage cluster="local" names={["orders", "payments"]} drawerOf={({ id }, onClose) => <button onClick={onClose}>drawer of {id}</button>} />, { at })

/** What the server says; the page draws a few times a second. */
function say(...frames: object[]): void {
  act(() => frames.forEach((frame) => FakeSocket.last.onmessage?.({ data: JSON.stringify(frame) })))
}

beforeEach(() => {
  FakeSocket.all = []
})

describe("the live page", () => {
  it("asks for what the address names, and shows messages with what was dropped between them", async () => {
    show("/live?topics=orders&filter=tag:paid%0A$.n > 1&sample=10&rate=20")
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    expect(FakeSocket.last.sent[0]).toEqual({
      type: "start", cluster: "local", topics: ["orders"], filter: { tags: ["paid"], fields: [{ path: "$.n", operator: "gt", value: 1 }] }, sample: 10, max_rate: 20,
    })
    expect(screen.queryByText("No message yet")).toBeNull()
    say({ type: "phase", phase: "live", topics: ["orders"] })
    await screen.findByText("No message yet")
    say(message(1), { type: "dropped", n: 1204, reason: "max_rate", from: AT, to: AT }, message(2))
    expect(await screen.findByText("A2")).toBeTruthy()
    expect(screen.getByText("1,204 not shown")).toBeTruthy()
    expect(screen.getByRole("link", { name: "Search the rest" }).getAttribute("href")).toContain("topic=orders")
  })

  it("stands still while paused and counts what waits", async () => {
    const { user } = show("/live?topics=orders")
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    say(message(1))
    await screen.findByText("A1")
    await user.click(screen.getByRole("button", { name: "Pause" }))
    say(message(2), message(3))
    const proceed = await screen.findByRole("button", { name: "Continue, 2 waiting" })
    expect(screen.queryByText("A2")).toBeNull()
    await user.click(proceed)
    expect(await screen.findByText("A2")).toBeTruthy()
  })

  it("holds the rows when one is opened", async () => {
    const { user, address } = show("/live?topics=orders")
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    say(message(1))
    await user.click(await screen.findByText("A1"))
    expect(await screen.findByText("drawer of AC11000000000000001")).toBeTruthy()
    expect(address()).toContain("of=orders")
    expect(screen.getByRole("button", { name: "Continue" })).toBeTruthy()
  })

  it("says what cannot be judged, what is refused and who is silent", async () => {
    show("/live?topics=orders")
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    say(
      message(1, { unjudged: "$.n cannot be read: the body is not JSON" }),
      { type: "unknown", topic: "orders", broker: "broker-b", reason: "it refused the connection" },
      { type: "error", problem: { code: "TOPIC_NOT_FOUND", detail: "No topic 'orders'." } },
    )
    expect(await screen.findByText("$.n cannot be read: the body is not JSON")).toBeTruthy()
    expect(screen.getByText("orders · broker-b is not read: it refused the connection.")).toBeTruthy()
    expect(screen.getByText("No topic 'orders'.")).toBeTruthy()
  })

  it("begins with a choice of topics", async () => {
    show("/live")
    expect(await screen.findByText("Choose the topics to watch")).toBeTruthy()
    expect(FakeSocket.all).toEqual([])
  })
})
