import { act, screen, waitFor, within } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { hiddenColumns, pinnedTopics } from "@/lib/preferences"
import { page, reader, topic } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, requests, type SeenRequest } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { TopicsPage } from "./topics-page"

const LIST = "GET /api/v1/clusters/local/topics"
const show = (at = "/topics", options = {}) => renderApp(<TopicsPage cluster="local" {...options} />, { at })
const names = () => [...document.querySelectorAll("tbody a")].map(({ textContent }) => textContent)
const shown = (...expected: string[]) => waitFor(() => expect(names()).toEqual(expected))
const asked = () => requests(LIST).map(({ query }) => Object.fromEntries(query))
const head = (words: string) => button(words).closest("th") as HTMLTableCellElement

beforeEach(() => {
  FakeSocket.all = []
})

afterEach(() => {
  act(() => {
    pinnedTopics.set([])
    hiddenColumns.set({})
  })
})

describe("the filter of the topic list", () => {
  it("asks for the words once they stand still, and keeps them in the address", async () => {
    answer(LIST, ({ query }: SeenRequest) => ({ body: page([topic(query.get("search") ?? "everything")]) }))
    const { user, address } = show()
    await shown("everything")
    await user.type(screen.getByLabelText("Filter by name, ord*eu, ~oeu"), "orders")
    await shown("orders")
    expect(asked().map(({ search }) => search)).toEqual([undefined, "orders"])
    expect(address()).toBe("/topics?search=orders")
  })

  it("is read from a shared link, words and kind and order", async () => {
    answer(LIST, page([topic("a-b")]))
    show("/topics?search=a-b&kind=all&sort=-messages")
    await shown("a-b")
    expect(screen.getByLabelText<HTMLInputElement>("Filter by name, ord*eu, ~oeu").value).toBe("a-b")
    expect(asked()).toEqual([{ search: "a-b", kind: "all", sort: "-messages", limit: "100" }])
    expect(head("Messages").getAttribute("aria-sort")).toBe("descending")
  })

  it("leaves no word of itself in the address when it is emptied", async () => {
    answer(LIST, page([topic("orders")]))
    const { user, address } = show("/topics?search=or")
    await shown("orders")
    await user.clear(screen.getByLabelText("Filter by name, ord*eu, ~oeu"))
    await waitFor(() => expect(address()).toBe("/topics"))
    await waitFor(() => expect(asked().at(-1)).not.toHaveProperty("search"))
  })

  it("keeps the rows until those of the next words are there", async () => {
    answer(LIST, page([topic("orders")]))
    const { user } = show()
    await shown("orders")
    let settle: (body: object) => void = () => undefined
    const late = new Promise<object>((resolve) => {
      settle = resolve
    })
    answer(LIST, async () => ({ body: await late }))
    await user.type(screen.getByLabelText("Filter by name, ord*eu, ~oeu"), "pay")
    await waitFor(() => expect(asked()).toHaveLength(2))
    expect(names()).toEqual(["orders"])
    settle(page([topic("payments")]))
    await shown("payments")
  })

  it("says that nothing matches, and offers no first step for a cluster that has topics", async () => {
    answer(LIST, page([]))
    show("/topics?search=nothing")
    expect(await screen.findByText("No topic matches")).toBeTruthy()
    expect(screen.getAllByText("Create topic")).toHaveLength(1)
  })

  it("says why it is not known which topics there are, and does not call the cluster empty", async () => {
    answer(LIST, page([]))
    show("/topics", { unknownReason: "name server mq:9876 refused the connection" })
    expect(await screen.findByText("It is not known which topics exist")).toBeTruthy()
    expect(screen.getByText("name server mq:9876 refused the connection")).toBeTruthy()
    expect(screen.queryByText("There is no topic yet")).toBeNull()
  })
})

describe("the order of the topic list", () => {
  it("begins with the slowest group, which is no word in the address", async () => {
    answer(LIST, page([topic("orders")]))
    show()
    await shown("orders")
    expect(asked()[0]).toMatchObject({ sort: "-max_lag", kind: "normal" })
    expect(head("Max lag").getAttribute("aria-sort")).toBe("descending")
  })

  it("is turned by a second press, and begins with the largest number and with the first letter", async () => {
    answer(LIST, page([topic("orders")]))
    const { user, address } = show()
    await shown("orders")
    for (const [words, sort] of [["Messages", "-messages"], ["Messages", "messages"], ["Topic", "name"], ["Topic", "-name"]] as const) {
      await user.click(button(words))
      await waitFor(() => expect(asked().at(-1)?.sort).toBe(sort))
      expect(address()).toBe(`/topics?sort=${sort}`)
    }
    await user.click(button("Max lag"))
    await waitFor(() => expect(address()).toBe("/topics"))
  })

  it("stays while the numbers move, and is taken anew by hand", async () => {
    answer(LIST, page([topic("orders", { max_lag: 9 }), topic("payments", { max_lag: 5 })]))
    const { user, cache } = show()
    await shown("orders", "payments")
    answer(LIST, page([topic("payments", { max_lag: 50 }), topic("orders", { max_lag: 9 })]))
    await act(() => cache.refetchQueries())
    expect(await screen.findByText("50")).toBeTruthy()
    expect(names()).toEqual(["orders", "payments"])
    await user.click(screen.getByLabelText("Refresh and sort again"))
    await shown("payments", "orders")
  })
})

describe("a long topic list", () => {
  it("reads the next page by its cursor when the end comes into sight, and no page after the last", async () => {
    const many = (first: number, count: number) => Array.from({ length: count }, (_, index) => topic(`t${first + index}`))
    answer(LIST, ({ query }: SeenRequest) => ({
      body: query.get("cursor") === "c2" ? { ...page(many(10, 3)), total: 13 } : { ...page(many(0, 10), "c2"), total: 13 },
    }))
    show()
    await waitFor(() => expect(names()).toHaveLength(13))
    expect(asked().map(({ cursor }) => cursor)).toEqual([undefined, "c2"])
    expect(screen.getByText("13 of 13 · pinned first")).toBeTruthy()
  })
})

describe("pinned topics", () => {
  it("stand first, in this browser, whatever the order", async () => {
    answer(LIST, page([topic("orders"), topic("payments"), topic("zebra")]))
    const { user } = show()
    await shown("orders", "payments", "zebra")
    await user.click(screen.getByLabelText("Pin zebra"))
    await shown("zebra", "orders", "payments")
    expect(screen.getByLabelText("Pin zebra").getAttribute("aria-pressed")).toBe("true")
    expect(JSON.parse(localStorage.getItem("gantry.pins") ?? "[]")).toEqual(["zebra"])
    await user.click(screen.getByLabelText("Pin zebra"))
    await shown("orders", "payments", "zebra")
  })
})

describe("a row of the topic list", () => {
  it("opens the topic by a click beside its name", async () => {
    answer(LIST, page([topic("orders", { messages: 4_711 })]))
    const { user, address } = show()
    await user.click(await screen.findByText("4,711"))
    await waitFor(() => expect(address()).toBe("/topics/orders"))
  })

  it("opens the topic by the keyboard alone", async () => {
    answer(LIST, page([topic("orders"), topic("payments")]))
    const { user, address } = show()
    await shown("orders", "payments")
    await user.keyboard("jj{Enter}")
    await waitFor(() => expect(address()).toBe("/topics/payments"))
  })

  it("shows the figure it had, in grey with its age, where it is not known now", async () => {
    const at = new Date(Date.now() - 120_000).toISOString()
    answer(LIST, page([topic("orders", { messages: null, missing: [{ broker: "broker-a", reason: "the broker at 10.0.0.1:10911 refused the connection", since: null }], last_known: { at, messages: 250, in_rate: null, max_lag: null } as never })]))
    show()
    expect(await screen.findByLabelText(/Not known now: the broker at 10\.0\.0\.1:10911 refused the connection\. It was 250, 2 min/)).toBeTruthy()
  })

  it("has no lag where nobody reads it, which is not a lag of zero", async () => {
    answer(LIST, page([topic("unread", { groups: 0, max_lag: 0, messages: 7 })]))
    show()
    const cells = within((await screen.findByText("unread")).closest("tr") as HTMLElement).getAllByRole("cell")
    expect(cells.at(-2)?.textContent).toBe("—")
  })

  it.each([
    ["Produce", "/topics/orders?tab=produce"],
    ["Search messages", "/messages?topic=orders"],
    ["Replay a range", "/jobs/new/replay?topic=orders"],
  ])("leads to %s", async (words, target) => {
    answer(LIST, page([topic("orders")]))
    const { user, address } = show()
    await shown("orders")
    await user.click(screen.getByLabelText("More actions"))
    await user.click(await screen.findByText(words))
    await waitFor(() => expect(address()).toBe(target))
  })

  it("lets a reader search only, and says which right the others need", async () => {
    answer(LIST, page([topic("orders")]))
    const { user } = renderApp(<TopicsPage cluster="local" />, { at: "/topics", me: reader() })
    await shown("orders")
    await user.click(screen.getByLabelText("More actions"))
    await screen.findByText("Produce")
    expect(["Produce", "Search messages", "Replay a range"].map((words) => button(words).disabled)).toEqual([true, false, true])
    expect(button("Produce").getAttribute("aria-description")).toBe("Needs the right: produce")
  })

  it("of a phone names the topic, its lag and what it holds", async () => {
    onPhone()
    answer(LIST, page([topic("orders", { max_lag: 12, messages: 1_234 }), topic("silent", { messages: null })]))
    show()
    expect(await screen.findByText("1,234 messages")).toBeTruthy()
    expect(screen.getByText("12")).toBeTruthy()
    expect(screen.getByText("Not known")).toBeTruthy()
  })
})

describe("the columns of the topic list", () => {
  it("go and come as chosen in this browser; the name cannot go", async () => {
    answer(LIST, page([topic("orders")]))
    const { user } = show()
    await shown("orders")
    const heads = () => [...document.querySelectorAll("th")].map(({ textContent }) => textContent)
    await user.click(button("14 columns"))
    await user.click(await screen.findByLabelText("Last write"))
    expect(heads()).not.toContain("Last write")
    expect(JSON.parse(localStorage.getItem("gantry.columns") ?? "{}")).toEqual({ topics: ["last_stored_at"] })
    expect(screen.queryByLabelText("Topic", { selector: "[type=checkbox]" })).toBeNull()
    await user.click(screen.getByLabelText("Last write"))
    expect(heads()).toContain("Last write")
  })
})
