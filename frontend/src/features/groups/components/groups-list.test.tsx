import { act, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { groupSummary, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, refuse, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { GroupsPage } from "./groups-page"

const LIST = "GET /api/v1/clusters/local/groups"
const show = (at = "/groups", options = {}) => renderApp(<GroupsPage cluster="local" />, { at, ...options })
const names = () => screen.getAllByRole("link").map(({ textContent }) => textContent).filter((name) => /^g-/.test(name ?? ""))
const rowOf = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLElement)

beforeEach(() => {
  FakeSocket.all = []
})

describe("the list of groups", () => {
  it("puts the unknown first, then what grows, then the rest by lag", async () => {
    answer(LIST, page([groupSummary("g-big", { lag: 900, state: "consuming" }), groupSummary("g-small", { lag: 3, state: "consuming" }), groupSummary("g-grows", { lag: 50, state: "growing" }), groupSummary("g-dark", { lag: null, state: "unknown" })]))
    show()
    await screen.findByText("g-big")
    expect(names()).toEqual(["g-dark", "g-grows", "g-big", "g-small"])
  })

  it("sorts by the column that is clicked, and the address says so", async () => {
    answer(LIST, page([groupSummary("g-a"), groupSummary("g-b")]))
    const { user, address } = show()
    await screen.findByText("g-a")
    await user.click(screen.getByText("Clients"))
    await waitFor(() => expect(address()).toMatch(/sort=-?clients/))
    await waitFor(() => expect(requests(LIST).at(-1)?.query.get("sort")).toMatch(/clients/))
  })

  it("takes its order from the first lags that are known, not from a list that had none", async () => {
    const dark = { lag: null, state: "unknown" } as const
    answer(LIST, page([groupSummary("g-a", dark), groupSummary("g-b", dark)]))
    const { cache } = show()
    await screen.findByText("g-a")
    expect(names()).toEqual(["g-a", "g-b"])
    answer(LIST, page([groupSummary("g-a", { lag: 3, state: "consuming" }), groupSummary("g-b", { lag: 900, state: "consuming" })]))
    await act(() => cache.invalidateQueries())
    await waitFor(() => expect(names()).toEqual(["g-b", "g-a"]))
  })

  it("keeps every row in its place while the numbers move", async () => {
    answer(LIST, page([groupSummary("g-a", { lag: 900 }), groupSummary("g-b", { lag: 3 })]))
    show()
    await screen.findByText("g-a")
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("groups:local", 1, { items: [groupSummary("g-a", { lag: 1 }), groupSummary("g-b", { lag: 5_000 })] })
    })
    expect((await rowOf("g-b")).getByText("5,000")).toBeTruthy()
    expect(names()).toEqual(["g-a", "g-b"])
  })

  it("puts pinned groups first, in this browser, whatever the order", async () => {
    answer(LIST, page([groupSummary("g-a"), groupSummary("g-b"), groupSummary("g-z")]))
    const { user } = show("/groups?sort=name")
    await screen.findByText("g-a")
    await user.click(screen.getByLabelText("Pin g-z"))
    await waitFor(() => expect(names()).toEqual(["g-z", "g-a", "g-b"]))
    expect(JSON.parse(localStorage.getItem("gantry.pins.groups") ?? "[]")).toEqual(["g-z"])
    await user.click(screen.getByLabelText("Pin g-z"))
    await waitFor(() => expect(names()).toEqual(["g-a", "g-b", "g-z"]))
  })

  it("says why there is no estimate, and leads to the dead letters", async () => {
    answer(LIST, page([groupSummary("g-a", { lag: 9, drain_unknown: "not_falling", dead_letters: 1_204 }), groupSummary("g-b", { dead_letters: null, missing: [{ broker: "broker-b", reason: "broker-b is silent", since: null }] })]))
    show()
    const row = await rowOf("g-a")
    expect(row.getByLabelText("Consumed hardly faster than written, if at all")).toBeTruthy()
    expect(row.getByText("1,204").getAttribute("href")).toBe("/groups/g-a?tab=dead-letters")
    expect((await rowOf("g-b")).getByLabelText(/broker-b is silent/)).toBeTruthy()
  })

  it("counts callers that lease over HTTP among the clients", async () => {
    answer(LIST, page([groupSummary("g-a", { clients: 2, lease_consumers: [{ token: "ci" }, { token: "cd" }] as never })]))
    show()
    expect((await rowOf("g-a")).getByText("4")).toBeTruthy()
  })

  it("writes an unknown lag as unknown with its reason, and no estimate", async () => {
    answer(LIST, page([groupSummary("g-dark", { lag: null, time_lag_ms: null, in_rate: null, out_rate: null, clients: null, leases: null, dead_letters: null, state: "unknown", unknown_reason: "broker-b is not listed by any name server" })]))
    show()
    const row = await rowOf("g-dark")
    expect(row.getAllByLabelText(/broker-b is not listed by any name server/).length).toBeGreaterThan(4)
    expect(row.queryByText("0")).toBeNull()
  })

  it("asks for the next page at the end of the first", async () => {
    answer(LIST, ({ query }: { query: URLSearchParams }) => ({ body: query.get("cursor") ? page([groupSummary("g-z")]) : page([groupSummary("g-a")], "c2") }))
    show()
    expect(await screen.findByText("g-z")).toBeTruthy()
  })

  it("tells no group from no match and from not known", async () => {
    answer(LIST, page([]))
    const none = show()
    expect(await screen.findByText("No group consumes from this cluster yet")).toBeTruthy()
    none.unmount()
    const filtered = show("/groups?search=zzz")
    expect(await screen.findByText("No group matches")).toBeTruthy()
    filtered.unmount()
    renderApp(<GroupsPage cluster="local" unknownReason="no broker answers" />)
    expect(await screen.findByText("It is not known which groups exist")).toBeTruthy()
    expect(screen.getByText("no broker answers")).toBeTruthy()
  })

  it("says that the list could not be read, and reads it again when asked", async () => {
    refuse(LIST, 503, "BROKER_UNREACHABLE", "No broker answered.")
    const { user } = show()
    expect(await screen.findByText("The groups could not be read")).toBeTruthy()
    answer(LIST, page([groupSummary("g-a")]))
    await user.click(screen.getByText("Try again"))
    expect(await screen.findByText("g-a")).toBeTruthy()
  })

  it("shows a viewer the button to create, disabled, with the right that is missing", async () => {
    answer(LIST, page([groupSummary("g-a")]))
    show("/groups", { me: reader() })
    const create = (await screen.findByText("Create group")).closest("button") as HTMLButtonElement
    expect(create.disabled).toBe(true)
    expect(create.getAttribute("aria-description")).toBe("Needs the right: manage")
  })

  it("is two columns without a head on a phone, and loads more by a button", async () => {
    onPhone()
    answer(LIST, ({ query }: { query: URLSearchParams }) => ({ body: query.get("cursor") ? page([groupSummary("g-z")]) : page([groupSummary("g-a", { lag: 7 })], "c2") }))
    const { user } = show()
    const row = within((await screen.findByText("g-a")).closest("li") as HTMLElement)
    expect(row.getByText("7")).toBeTruthy()
    expect(screen.queryByRole("table")).toBeNull()
    await user.click(screen.getByText("Show more"))
    expect(await screen.findByText("g-z")).toBeTruthy()
  })
})
