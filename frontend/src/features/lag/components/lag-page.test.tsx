import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { group, queue } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, refuse, requests } from "@/testing/server"
import { LagChart } from "./lag-chart"
import { LagTable } from "./lag-table"

const HISTORY = "GET /api/v1/clusters/local/groups/billing/lag/history"
const history = { step_ms: 1_000, from: "2026-11-21T06:00:00Z", to: "2026-11-21T06:00:02Z", series: { lag: [1, null, 3], in_rate: [1, 1, 1], out_rate: [1, 1, 1] } }
const REASON = "broker-b is not listed by any name server"

beforeEach(() => answer(HISTORY, history))

describe("the chart of lag and rates", () => {
  it("asks for the range of the address, and for another when it is chosen", async () => {
    const { user, address } = renderApp(<LagChart cluster="local" group={group("billing")} />, { at: "/groups/billing?range=1h" })
    await screen.findByRole("img", { name: "Lag and rates" })
    expect(requests(HISTORY)[0]?.query.get("range")).toBe("1h")
    await user.click(screen.getByText("6 h"))
    await waitFor(() => expect(address()).toContain("range=6h"))
    await waitFor(() => expect(requests(HISTORY).at(-1)?.query.get("range")).toBe("6h"))
  })

  it("gives in, out and the gap between them", async () => {
    renderApp(<LagChart cluster="local" group={group("billing", { state: "growing", in_rate: 1_842, out_rate: 1_555, lag_per_second: 287 })} />)
    for (const words of ["1,842/s", "1,555/s", "+287/s"]) expect(await screen.findByText(words)).toBeTruthy()
  })

  it("writes rates that are not known as a dash, not as zero", async () => {
    renderApp(<LagChart cluster="local" group={group("billing", { state: "unknown", in_rate: null, out_rate: null, lag_per_second: null })} />)
    await screen.findByRole("img", { name: "Lag and rates" })
    expect(screen.getAllByText("—").length).toBeGreaterThanOrEqual(3)
    expect(screen.queryByText("0/s")).toBeNull()
  })

  it("can be held still and goes on again", async () => {
    const { user } = renderApp(<LagChart cluster="local" group={group("billing")} />)
    await user.click(await screen.findByLabelText("Pause the chart"))
    await user.click(await screen.findByLabelText("Resume the chart"))
    expect(await screen.findByLabelText("Pause the chart")).toBeTruthy()
  })

  it("says that the history could not be read", async () => {
    refuse(HISTORY, 503, "REDIS_UNREACHABLE", "Redis cannot be reached.")
    renderApp(<LagChart cluster="local" group={group("billing")} />)
    expect(await screen.findByText("The lag history could not be read")).toBeTruthy()
  })
})

describe("the queues of a group", () => {
  const cells = async (text: string) => [...((await screen.findByText(text)).closest("tr") as HTMLTableRowElement).cells].map(({ textContent }) => textContent)

  it("name broker and topic only where there are several", async () => {
    const { unmount } = renderApp(<LagTable group={group("billing", { queues: [queue(0), queue(1)] })} />)
    await screen.findByText("Group offset")
    expect(screen.queryByText("Broker")).toBeNull()
    unmount()
    renderApp(<LagTable group={group("billing", { queues: [queue(0), queue(1, { broker: "broker-b", topic: "returns" })] })} />)
    expect(await screen.findByText("Broker")).toBeTruthy()
    expect(screen.getByText("returns")).toBeTruthy()
  })

  it("write both offsets and what lies between", async () => {
    renderApp(<LagTable group={group("billing", { queues: [queue(0, { client: "c-1", broker_offset: 5_000, group_offset: 4_200, lag: 800, time_lag_ms: 2_000 })] })} />)
    expect(await cells("c-1")).toEqual(["0", "c-1", "5,000", "4,200", "800", "", "2 s"])
  })

  it("say that a queue was not timed yet, instead of no time", async () => {
    renderApp(<LagTable group={group("billing", { queues: [queue(0, { lag: 800, time_lag_ms: null })] })} />)
    expect(await screen.findByLabelText("Not known: not measured yet")).toBeTruthy()
  })

  it("are none until a position is committed", async () => {
    renderApp(<LagTable group={group("billing", { queues: [] })} />)
    expect(await screen.findByText("The group has no position in any queue yet")).toBeTruthy()
  })

  it("come worst first on a phone, the unknown with its reason", async () => {
    onPhone()
    renderApp(<LagTable group={group("billing", { queues: [queue(0, { lag: 1 }), queue(1, { lag: 900 }), queue(2, { broker: "broker-b", lag: null, unknown_reason: REASON })] })} />)
    await screen.findByText("900")
    const order = screen.getAllByText(/q\d$/).map(({ textContent }) => textContent)
    expect(order).toEqual(["broker-a q1", "broker-a q0", "broker-b q2"])
    const unknown = within(screen.getByText("broker-b q2").parentElement as HTMLElement)
    expect(unknown.getByText(REASON)).toBeTruthy()
    expect(unknown.queryByText("0")).toBeNull()
  })
})
