import { act, screen, waitFor } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { group, queue } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { GroupPage } from "./group-page"

const ONE = "GET /api/v1/clusters/local/groups/billing"
const show = () => renderApp(<GroupPage cluster="local" group="billing" deadLetters={() => null} activity={() => null} lag={({ lag }) => <output>{`lag ${lag ?? "unknown"}`}</output>} />)

beforeEach(() => {
  FakeSocket.all = []
})

describe("a group", () => {
  it("moves by itself when the live channel speaks, without another request", async () => {
    answer(ONE, group("billing", { lag: 100 }))
    show()
    expect(await screen.findByText("lag 100")).toBeTruthy()
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("group:local:billing", 1, group("billing", { lag: 184_220, state: "growing", in_rate: 1_842, out_rate: 1_555, lag_per_second: 287 }))
    })
    expect(await screen.findByText("lag 184220")).toBeTruthy()
    expect(screen.getByText("Growing")).toBeTruthy()
    expect(screen.getByText("+287/s over 5 min")).toBeTruthy()
    expect(requests(ONE)).toHaveLength(1)
  })

  it("says how many queues are unknown and marks the sum as incomplete", async () => {
    answer(ONE, group("billing", { lag: 100, queues: [queue(0), queue(1, { lag: null, unknown_reason: "broker-b silent" })] }))
    show()
    expect(await screen.findByText("100+")).toBeTruthy()
    expect(screen.getByText("1 queue unknown")).toBeTruthy()
  })

  it("counts no subscriptions that it does not list: callers that lease have none", async () => {
    answer(ONE, group("billing", { topics: ["orders"], clients: 0, lease_consumers: [{ token: "ci" }] as never }))
    answer(`${ONE}/subscriptions`, { items: [], consistent: true, silent: [], missing: [] })
    const { user } = show()
    const tab = await screen.findByRole("tab", { name: "Subscriptions" })
    expect((await screen.findByRole("tab", { name: /Clients/ })).textContent).toBe("Clients1")
    await user.click(tab)
    expect(await screen.findByText(/Callers that lease have none/)).toBeTruthy()
  })

  it("never writes an unknown lag as zero", async () => {
    answer(ONE, group("billing", { lag: null, state: "unknown", unknown_reason: "no broker answers", queues: [] }))
    show()
    await waitFor(() => expect(screen.getAllByLabelText(/no broker answers/).length).toBeGreaterThan(0))
    expect(screen.getByText("Unknown")).toBeTruthy()
  })

  it("gives no estimate while out is slower than in", async () => {
    answer(ONE, group("billing", { lag: 100, state: "growing", drain_eta_ms: null, drain_unknown: "not_falling" }))
    show()
    expect(await screen.findByText("Consumed hardly faster than written, if at all")).toBeTruthy()
  })

  it("shows what was known last, with its age and why it is not known now, and no word of health", async () => {
    const reason = "broker-b at 10.0.0.2:10911 refused the connection"
    answer(ONE, group("billing", { lag: null, time_lag_ms: null, in_rate: null, out_rate: null, clients: null, state: "unknown", unknown_reason: reason, queues: [queue(0, { lag: null, unknown_reason: reason })], last_known: { at: new Date(Date.now() - 12_000).toISOString(), lag: 6_976, time_lag_ms: 42_000, in_rate: 10, out_rate: 5 } }))
    show()
    expect(await screen.findByLabelText(new RegExp(`Not known now: ${reason}. It was 6,976, \\d+ s ago`))).toBeTruthy()
    expect(screen.getAllByText("last known").length).toBe(4)
    const words = document.body.textContent
    for (const health of ["caught up", "Caught up", "no client", "by 0 clients", "not growing", "nothing to drain"]) expect(words).not.toContain(health)
  })

  it("does not call a group that has consumed nothing yet caught up", async () => {
    answer(ONE, group("billing", { lag: 0, time_lag_ms: 0, drain_eta_ms: 0, state: "idle", queues: [] }))
    show()
    expect((await screen.findAllByText("has consumed nothing yet")).length).toBe(3)
    for (const health of ["caught up", "nothing to drain"]) expect(document.body.textContent).not.toContain(health)
  })

  it("names the broker of the slowest queue where there are several", async () => {
    answer(ONE, group("billing", { lag: 5, queues: [queue(0, { time_lag_ms: 1_000 }), queue(3, { broker: "broker-b", time_lag_ms: 9_000, client: null })] }))
    show()
    expect(await screen.findByText("broker-b, queue 3")).toBeTruthy()
  })

  it.each([
    ["idle", "Idle", "has consumed nothing yet"],
    ["caught_up", "Caught up", "caught up"],
    ["consuming", "Consuming", "being consumed"],
    ["stalled", "Stalled", "nothing is consumed"],
  ] as const)("says %s in the badge and beside the lag with the same meaning", async (state, badge, fact) => {
    answer(ONE, group("billing", { state, lag: state === "idle" || state === "caught_up" ? 0 : 18_008, lag_per_second: 0 }))
    show()
    expect(await screen.findByText(badge)).toBeTruthy()
    expect(screen.getAllByText(fact).length).toBeGreaterThan(0)
  })

  it("says which group could not be read", async () => {
    refuse(ONE, 404, "GROUP_NOT_FOUND", "No broker has it.")
    show()
    expect(await screen.findByText("Group billing could not be read")).toBeTruthy()
  })
})
