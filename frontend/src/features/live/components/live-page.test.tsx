import { act, screen } from "@testing-library/react"
import i18next from "i18next"
import { beforeEach, describe, expect, it } from "vitest"
import { SeveralBrokers } from "@/hooks/use-several-brokers"
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

  it("says which broker stored a message where there are several", async () => {
    renderApp(
      <SeveralBrokers value>
        <LivePage cluster="local" names={["orders"]} drawerOf={() => null} />
      </SeveralBrokers>,
      { at: "/live?topics=orders" },
    )
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    say(message(1, { broker: "broker-a" }), message(1, { broker: "broker-b", message_id: "B1" }))
    expect(await screen.findByText("broker-a")).toBeTruthy()
    expect(screen.getByText("broker-b")).toBeTruthy()
    expect(screen.getByRole("columnheader", { name: "Broker" })).toBeTruthy()
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

  it.each([
    ["$..x = 1", "Character 2: a path such as $.order.items[0].price was expected, not ..x = 1"],
    ["$.amount >", "Character 11: a value was expected, not the end"],
    ["$.amount is 3", "Character 10: one of = != > >= < <= ~ was expected, not is 3"],
    ["$.amount > many", "A field is greater or less than a number or a text in quotes, not many."],
    ["tag:", "Character 5: a value was expected, not the end"],
    ["key:", "Character 5: a value was expected, not the end"],
    ["tenant =", "Character 9: a value was expected, not the end"],
    ["sql:", "Character 5: a value was expected, not the end"],
    ["key:B", "key:B would take the place of another condition of its kind; remove that one first"],
  ])("refuses %s where it is typed, and says at which place", async (typed, words) => {
    const { user, address } = show("/live?topics=orders&filter=key:A")
    const field = await screen.findByLabelText("Filter")
    await user.type(field, typed.replace(/[[{]/g, "$&$&"))
    await user.keyboard("{Enter}")
    expect((await screen.findByRole("alert")).textContent).toBe(words)
    expect(field.getAttribute("aria-invalid")).toBe("true")
    expect(address()).toContain("filter=key")
    expect(FakeSocket.all).toHaveLength(1)
  })

  it("asks for nothing with a filter of the address that it refuses, and does not claim to connect", async () => {
    show("/live?topics=orders&filter=$..x = 1")
    expect(await screen.findByText(/^Character 2: a path/)).toBeTruthy()
    expect(screen.getByText("No messages are read")).toBeTruthy()
    expect(screen.queryByText("Connecting")).toBeNull()
    expect(FakeSocket.all).toEqual([])
  })

  it("says at the field what the server finds wrong with SQL, and nowhere else", async () => {
    show("/live?topics=orders&filter=sql:amount LIKE 'x'")
    await screen.findByText("Connecting")
    FakeSocket.last.greet()
    expect(FakeSocket.last.sent[0]).toMatchObject({ filter: { sql: "amount LIKE 'x'" } })
    const refuse = (detail: string) => say({ type: "error", problem: { code: "INVALID", detail, errors: [{ pointer: "#/filter/sql", code: "INVALID", detail }] } })
    refuse("This is no SQL92 filter: 'LIKE' does not belong here: the expression ends before it, at character 8.")
    expect((await screen.findByRole("alert")).textContent).toBe("SQL, character 8: LIKE does not belong here")
    expect(screen.getByLabelText("Filter").getAttribute("aria-invalid")).toBe("true")
    expect(screen.getByRole("button", { name: /^Remove the condition sql:/ }).getAttribute("data-faulty")).toBe("true")
    expect(screen.queryByText("The tail was refused.")).toBeNull()
    refuse("Must have at most 1,024 characters.")
    expect(await screen.findByText("Must have at most 1,024 characters.")).toBeTruthy()
  })

  it("says in Chinese what the server refuses, and that nothing is read", async () => {
    await i18next.changeLanguage("zh")
    show("/live?topics=orders")
    await screen.findByText("正在连接")
    FakeSocket.last.greet()
    say({ type: "error", problem: { code: "INVALID", detail: "'$..x' is not a path such as $.order.items[0].price." } })
    expect(await screen.findByText("请求被拒绝：")).toBeTruthy()
    expect(screen.getByText("$..x 不是 $.order.items[0].price 这样的路径")).toBeTruthy()
    expect(screen.queryByText("正在连接")).toBeNull()
    await i18next.changeLanguage("en")
  })
})
