import { screen, waitFor } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { groupSummary, page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { GroupsPage } from "./groups-page"

const LIST = "GET /api/v1/clusters/local/groups"

beforeEach(() => {
  FakeSocket.all = []
})

describe("the list of groups", () => {
  it("stands still while lag moves, until it is refreshed by hand", async () => {
    let lags = { billing: 50, risk: 10 }
    answer(LIST, () => ({ body: page(Object.entries(lags).sort(([, a], [, b]) => b - a).map(([name, lag]) => groupSummary(name, { lag }))) }))
    const { user, cache } = renderApp(<GroupsPage cluster="local" />)
    const names = () => screen.getAllByRole("link").map(({ textContent }) => textContent).filter((name) => name === "billing" || name === "risk")
    await screen.findByText("50")
    lags = { billing: 50, risk: 900 }
    await cache.invalidateQueries()
    await screen.findByText("900")
    expect(names()).toEqual(["billing", "risk"])
    await user.click(screen.getByRole("button", { name: "Refresh and sort again" }))
    await waitFor(() => expect(names()).toEqual(["risk", "billing"]))
  })

  it("never counts more rows than there are", async () => {
    answer(LIST, { items: [groupSummary("billing"), groupSummary("risk"), groupSummary("billing")], next_cursor: null, total: 2 })
    renderApp(<GroupsPage cluster="local" />)
    expect(await screen.findByText("2 of 2 · pinned first, then the worst")).toBeTruthy()
  })

  it("shows the whole name and the lag first on a phone", async () => {
    onPhone()
    const name = "billing-of-the-northern-warehouses-and-all-their-branches"
    answer(LIST, page([groupSummary(name, { lag: 184_220 })]))
    renderApp(<GroupsPage cluster="local" />)
    const row = (await screen.findByText(name)).closest("li") as HTMLElement
    expect(row.textContent.startsWith(`${name}184,220`)).toBe(true)
    expect(screen.queryByRole("table")).toBeNull()
  })
})
