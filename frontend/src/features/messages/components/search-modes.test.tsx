import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { message, messageSummary, page, search } from "@/testing/factories"
import { button, choose } from "@/testing/fields"
import { SeveralBrokers } from "@/hooks/use-several-brokers"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { MessagesPage } from "./messages-page"

const SEARCH = "GET /api/v1/clusters/local/messages:search"
const TIME = "GET /api/v1/clusters/local/topics/orders/messages"
const QUEUE = "GET /api/v1/clusters/local/topics/orders/queues/2/messages"
const show = (at: string) => renderApp(<MessagesPage cluster="local" topics={["orders", "payments"]} />, { at })
const queuePage = (overrides = {}) => ({ items: [messageSummary("AC11")], min_offset: 0, max_offset: 500, next_offset: 132, ...overrides })

describe("the bar of a search", () => {
  it.each([
    ["key", "/messages?topic=orders", "Key of the message"],
    ["id", "/messages?mode=id", "Message ID"],
    ["id without a topic", "/messages?mode=id&id=AC11", "Message ID"],
    ["key in a reversed range", "/messages?topic=orders&key=A17&from=2026-11-21T06:00:00.000Z&to=2026-11-21T05:00:00.000Z", "Key of the message"],
    ["key up to what is no moment", "/messages?topic=orders&key=A17&to=soon", "Key of the message"],
    ["offset", "/messages?mode=offset&topic=orders", "Queue offset"],
  ])("asks nothing by %s until it is whole", async (_mode, at, label) => {
    show(at)
    const input = await screen.findByLabelText(label)
    expect(button("Search").disabled).toBe(true)
    fireEvent.submit(input.closest("form") as HTMLFormElement)
    expect(requests(SEARCH)).toHaveLength(0)
  })

  it("finds an id within the topic that is chosen for it", async () => {
    answer("GET /api/v1/clusters/local/messages/AC11", message("AC11"))
    const { user } = show("/messages?mode=id&id=AC11")
    await choose(user, await screen.findByRole("combobox", { name: "Topic" }), "orders")
    expect(requests("GET /api/v1/clusters/local/messages/AC11")).toHaveLength(0)
    await user.click(button("Search"))
    await waitFor(() => expect(requests("GET /api/v1/clusters/local/messages/AC11")[0]?.query.get("topic")).toBe("orders"))
  })

  it("calls a reversed range reversed, instead of read and empty", async () => {
    show("/messages?mode=time&topic=orders&from=2026-11-21T06:00:00.000Z&to=2026-11-21T05:00:00.000Z")
    expect((await screen.findAllByText("The end of the range must be later than its start")).length).toBeGreaterThan(0)
    expect(requests(TIME)).toHaveLength(0)
  })

  it("trims what was pasted", async () => {
    answer(SEARCH, search())
    const { user, address } = show("/messages?topic=orders")
    await user.type(await screen.findByLabelText("Key of the message"), "  A17 {Enter}")
    await waitFor(() => expect(address()).toContain("key=A17"))
    await waitFor(() => expect(requests(SEARCH)[0]?.query.get("key")).toBe("A17"))
  })

  it("looks for a key in all topics when none is chosen", async () => {
    const { user, address } = show("/messages")
    await user.type(await screen.findByLabelText("Key of the message"), "A17{Enter}")
    await waitFor(() => expect(address()).toContain("key=A17"))
    expect(await screen.findByText(/^1 key in all topics, /)).toBeTruthy()
    expect(screen.getByLabelText<HTMLInputElement>("Key of the message").value).toBe("A17")
    expect(requests("POST /api/v1/clusters/local/messages:search").at(-1)?.body).toMatchObject({ topic: null, keys: ["A17"] })
  })

  it("says that a topic is missing", async () => {
    const { user } = show("/messages?mode=id")
    await user.type(await screen.findByLabelText("Message ID"), "AC11")
    expect(screen.getByText(/Choose a topic too/)).toBeTruthy()
  })

  it("takes no letters for an offset", async () => {
    const { user } = show("/messages?mode=offset&topic=orders&queue=2")
    await user.type(await screen.findByLabelText("Queue offset"), "12x")
    expect(button("Search").disabled).toBe(true)
  })

  it("asks over the whole time only when that was chosen", async () => {
    answer(SEARCH, search())
    const { user } = show("/messages?topic=orders&key=A17")
    await waitFor(() => expect(requests(SEARCH)[0]?.query.get("from")).toBeTruthy())
    await choose(user, await screen.findByLabelText("Time range", { selector: "input" }), "All messages")
    await user.click(button("Search"))
    await waitFor(() => expect(requests(SEARCH).at(-1)?.query.get("from")).toBeNull())
  })

  it("forgets the opened message when the way to search changes", async () => {
    answer(SEARCH, search({ items: [messageSummary("AC11")] }))
    answer("GET /api/v1/clusters/local/messages/AC11", message("AC11"))
    const { user, address } = show("/messages?topic=orders&key=A17&open=AC11")
    await user.click(await screen.findByText("Time"))
    await waitFor(() => expect(address()).toContain("mode=time"))
    expect(address()).not.toContain("open=")
  })
})

describe("the messages of one queue", () => {
  it("are walked by offset, older and newer, through the address", async () => {
    answer(QUEUE, queuePage())
    const { user, address } = show("/messages?mode=offset&topic=orders&queue=2&offset=100")
    expect(await screen.findByText("the queue holds offsets 0 to 499")).toBeTruthy()
    await user.click(button("Newer"))
    await waitFor(() => expect(address()).toContain("offset=132"))
    await user.click(button("Older"))
    await waitFor(() => expect(address()).toContain("offset=100"))
  })

  it("are those of the broker that is named where there are several", async () => {
    answer(QUEUE, queuePage())
    const page = <SeveralBrokers value><MessagesPage cluster="local" topics={["orders"]} /></SeveralBrokers>
    const { user, address } = renderApp(page, { at: "/messages?mode=offset&topic=orders&queue=2&offset=100" })
    await screen.findByText("the queue holds offsets 0 to 499")
    await user.type(screen.getByLabelText("Broker of the queue"), "broker-b{Enter}")
    await waitFor(() => expect(address()).toContain("broker=broker-b"))
    await waitFor(() => expect(requests(QUEUE).at(-1)?.query.get("broker")).toBe("broker-b"))
  })

  it("end where the queue ends", async () => {
    answer(QUEUE, queuePage({ next_offset: 500 }))
    show("/messages?mode=offset&topic=orders&queue=2&offset=0")
    await screen.findByText("the queue holds offsets 0 to 499")
    expect([button("Older").disabled, button("Newer").disabled]).toEqual([true, true])
  })

  it("do not go below the oldest that is kept", async () => {
    answer(QUEUE, queuePage({ min_offset: 90 }))
    const { user, address } = show("/messages?mode=offset&topic=orders&queue=2&offset=100")
    await screen.findByText("the queue holds offsets 90 to 499")
    await user.click(button("Older"))
    await waitFor(() => expect(address()).toContain("offset=90"))
  })
})

describe("a list of found messages", () => {
  it("loads the next page, and says where it ends", async () => {
    answer(TIME, ({ query }: { query: URLSearchParams }) => ({ body: { ...(query.get("cursor") ? page([messageSummary("AC12")]) : page([messageSummary("AC11")], "c2")), missing: [] } }))
    show("/messages?mode=time&topic=orders")
    expect(await screen.findByText("End of results. Nothing more in the searched range.")).toBeTruthy()
    expect(requests(TIME)).toHaveLength(2)
  })

  it("opens a message beside it and walks through the others", async () => {
    answer(SEARCH, search({ items: [messageSummary("AC11"), messageSummary("AC12")] }))
    for (const id of ["AC11", "AC12"]) {
      answer(`GET /api/v1/clusters/local/messages/${id}`, message(id))
      answer(`GET /api/v1/clusters/local/messages/${id}/deliveries`, { items: [] })
    }
    const { user, address } = show("/messages?topic=orders&key=A17&open=AC11")
    expect(await screen.findByText("1 of 2")).toBeTruthy()
    await user.click(screen.getByLabelText("Next row"))
    expect(await screen.findByText("2 of 2")).toBeTruthy()
    expect(address()).toContain("open=AC12")
    await user.keyboard("{Escape}")
    await waitFor(() => expect(address()).not.toContain("open="))
  })

  it("reads it again when that failed", async () => {
    refuse(SEARCH, 504, "TIMED_OUT", "broker-a did not answer within 3 s")
    const { user } = show("/messages?topic=orders&key=A17")
    await screen.findByText("The messages could not be read")
    answer(SEARCH, search({ items: [messageSummary("AC11")] }))
    await user.click(button("Try again"))
    expect(await screen.findByText("1 match")).toBeTruthy()
  })
})

describe("the body of a message", () => {
  const open = (overrides: Parameters<typeof message>[1], view = "") => {
    answer("GET /api/v1/clusters/local/messages/AC11", message("AC11", overrides))
    answer("GET /api/v1/clusters/local/messages/AC11/deliveries", { items: [] })
    return show(`/messages?mode=id&topic=orders&id=AC11&zone=UTC${view}`)
  }

  it("is bytes where it is no text", async () => {
    open({ body: { encoding: "base64", data: "AAEC/w==", text: null }, body_bytes: 4 })
    expect(await screen.findByText(/00 01 02 ff/i)).toBeTruthy()
    expect(screen.queryByText("Tree")).toBeNull()
  })

  it("is a tree of JSON first, and as it was sent when asked, by the address", async () => {
    const { user, address } = open({ body: { encoding: "json", data: { order: "A17", lines: [1, 2] }, text: null } })
    expect(await screen.findByText("2 items")).toBeTruthy()
    await user.click(screen.getByText("Raw"))
    await waitFor(() => expect(address()).toContain("view=raw"))
    expect(screen.queryByText("2 items")).toBeNull()
  })

  it("has its times read in the zone of the reader", async () => {
    open({ body: { encoding: "json", data: { at: "2026-11-21T14:31:07+08:00" }, text: null } })
    expect(await screen.findByText(/06:31.* UTC$/)).toBeTruthy()
  })

  it("comes with its properties, or says that there are none", async () => {
    const { unmount } = open({ properties: { KEYS: "A17", region: "eu" } })
    expect((await screen.findByText("region")).closest("tr")?.textContent).toBe("regioneu")
    unmount()
    open({ properties: {} })
    expect(await screen.findByText("The message has no properties.")).toBeTruthy()
  })
})
