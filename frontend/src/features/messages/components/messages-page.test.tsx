import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { message, messageSummary, search } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { MessagesPage } from "./messages-page"

const SEARCH = "GET /api/v1/clusters/local/messages:search"
const show = (at: string) => renderApp(<MessagesPage cluster="local" topics={["orders", "payments"]} />, { at })

describe("searching by key", () => {
  it("puts the question into the address and tells how far the answer can be trusted", async () => {
    answer(SEARCH, search({ items: [messageSummary("AC110001000077D2A44F61E8B2")] }))
    const { user, address } = show("/messages?topic=orders")
    await user.type(await screen.findByLabelText("Key of the message"), "A17")
    await user.click(screen.getByRole("button", { name: "Search" }))
    expect(await screen.findByText("1 match")).toBeTruthy()
    expect(screen.getByText("3 index files read, 214 entries visited, 1 collision dropped")).toBeTruthy()
    expect(address()).toContain("topic=orders&key=A17")
    expect(requests(SEARCH)[0]?.query.get("key")).toBe("A17")
  })

  it("is as calm about a complete no as about a match", async () => {
    answer(SEARCH, search({ verdict: "no_match" }))
    show("/messages?topic=orders&key=A18")
    expect(await screen.findByText("No match")).toBeTruthy()
    expect(screen.getByText("Not found: all 3 index files in the range were read")).toBeTruthy()
    expect(screen.getByText("complete")).toBeTruthy()
  })

  it("does not call the range read while a broker was not searched", async () => {
    const missing = [{ broker: "broker-b", reason: "broker-b at 10.0.0.2:10911 refused the connection", since: null }]
    answer(SEARCH, search({ verdict: "partial", complete: false, missing }))
    show("/messages?topic=orders&key=A18")
    expect(await screen.findByText("Not everything in the range was read; there may be more.")).toBeTruthy()
    expect(document.body.textContent).not.toContain("Everything in the range was read")
  })

  it("does not invent figures that a broker did not tell", async () => {
    const { searched } = search()
    answer(SEARCH, search({ items: [messageSummary("A")], searched: { ...searched, index_files: null, index_files_skipped_by_time: null, entries_visited: null, collisions_dropped: null } }))
    show("/messages?topic=orders&key=A17")
    expect(await screen.findByText("This broker does not report how many index files it read")).toBeTruthy()
  })

  it("says that a search failed, with its request id", async () => {
    refuse(SEARCH, 503, "INDEX_UNREADABLE", "Index file 20261119 cannot be read.")
    show("/messages?topic=orders&key=A17")
    expect(await screen.findByText("The messages could not be read")).toBeTruthy()
    expect(screen.getByText("503 INDEX_UNREADABLE")).toBeTruthy()
  })
})

describe("a message that may wait", () => {
  const linkTo = (page: string) => screen.getByRole("link", { name: `Look in ${page}` }).getAttribute("href")
  const leads = async (query: string) => {
    expect(await screen.findByText("A delayed message, and one of an open transaction, is not in its topic yet.")).toBeTruthy()
    expect([linkTo("Scheduled"), linkTo("Transactions")]).toEqual([`/scheduled?${query}`, `/transactions?${query}`])
  }

  it("is looked for by the same key where messages wait", async () => {
    answer(SEARCH, search({ verdict: "no_match" }))
    show("/messages?topic=orders&key=A18")
    await leads("key=A18&topic=orders")
  })

  it("is looked for by its id there too", async () => {
    refuse("GET /api/v1/clusters/local/messages/AC12", 404, "MESSAGE_NOT_FOUND", "No broker holds it.")
    show("/messages?mode=id&topic=orders&id=AC12")
    await leads("key=AC12&topic=orders")
  })

  it("is of no concern to a list by time", async () => {
    answer("GET /api/v1/clusters/local/topics/orders/messages", { items: [], next_cursor: null, missing: [] })
    show("/messages?mode=time&topic=orders")
    expect(await screen.findByText("Everything in the range was read.")).toBeTruthy()
    expect(screen.queryByText("Look in Scheduled")).toBeNull()
  })
})

describe("one message", () => {
  it("opens from a link with body, properties and deliveries", async () => {
    answer("GET /api/v1/clusters/local/messages/AC11", message("AC11"))
    answer("GET /api/v1/clusters/local/messages/AC11/deliveries", {
      items: [
        { group: "risk", state: "consumed", behind: null },
        { group: "billing", state: "not_reached", behind: 58_222 },
      ],
    })
    show("/messages?mode=id&topic=orders&id=AC11")
    expect(await screen.findByText('"A17"')).toBeTruthy()
    expect(screen.getByText("the key")).toBeTruthy()
    expect(await screen.findByText("58,222 before it")).toBeTruthy()
    expect(screen.getByText("Consumed")).toBeTruthy()
  })

  it("that is not there is an answer, not an error", async () => {
    refuse("GET /api/v1/clusters/local/messages/AC12", 404, "MESSAGE_NOT_FOUND", "No broker holds it.")
    show("/messages?mode=id&topic=orders&id=AC12")
    expect((await screen.findAllByText("Not found")).length).toBeGreaterThan(0)
  })
})

describe("browsing by time", () => {
  it("names the brokers whose messages are not in the list, and calls nothing whole", async () => {
    const missing = [{ broker: "broker-b", reason: "broker-b at 10.0.0.2:10911 refused the connection", since: null }]
    answer("GET /api/v1/clusters/local/topics/orders/messages", { items: [], next_cursor: null, missing })
    show("/messages?mode=time&topic=orders")
    expect(await screen.findByText("broker-b was not read: broker-b at 10.0.0.2:10911 refused the connection")).toBeTruthy()
    expect(screen.getByText("No message")).toBeTruthy()
    expect(screen.queryByText("Everything in the range was read.")).toBeNull()
  })
})
