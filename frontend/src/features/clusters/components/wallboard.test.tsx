import { act, screen } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { reachable } from "@/lib/api-client"
import { broker, groupSummary, overview } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { Wallboard } from "./wallboard"

const OVERVIEW = "GET /api/v1/clusters/local/overview"
const REASON = "broker-b at 10.0.0.2:10911 refused the connection"
const alerts = { firing: 2, no_data: 0, pending: 0, acknowledged: 0, silenced: 0, resolved: 0 }
const figure = (label: string) => screen.getByText(label).parentElement

beforeEach(() => vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] }))
afterEach(() => {
  vi.useRealTimers()
  reachable.set({ ok: true, since: Date.now() })
})

describe("the wallboard", () => {
  it("shows the figures and the five groups in most trouble", async () => {
    const names = ["a", "b", "c", "d", "e", "f"].map((name) => `group-${name}`)
    answer(OVERVIEW, overview({ total_lag: 184_220, lag_unknown_groups: 1, worst_groups: names.map((name) => groupSummary(name, { lag: 7, state: "stalled" })) }))
    renderApp(<Wallboard cluster="local" alerts={alerts} />)
    expect(await screen.findByText("184,220+")).toBeTruthy()
    expect(figure("Firing alerts")?.textContent).toContain("2")
    expect(screen.getAllByText("Stalled")).toHaveLength(5)
    expect(screen.queryByText("nothing waits")).toBeNull()
  })

  it("shows a paused group as paused, without alarm", async () => {
    answer(OVERVIEW, overview({ total_lag: 7, worst_groups: [groupSummary("billing", { lag: 7, state: "stalled", delivery: "paused" })] }))
    renderApp(<Wallboard cluster="local" alerts={alerts} />)
    const badge = await screen.findByText("Paused")
    expect(badge.getAttribute("data-tone")).toBe("grey")
    expect(screen.queryByText("Stalled")).toBeNull()
    expect(figure("Total lag")?.getAttribute("data-tone")).toBeNull()
  })

  it("shows what is unknown as unknown, with its reason and what it was", async () => {
    const at = new Date(Date.now() - 15_000).toISOString()
    const last_known = { at, total_lag: 18_800, oldest_unconsumed_ms: null, dead_letters: null, topics: 1, groups: 1, in_rate: null, out_rate: null, disk_used_ratio: null }
    answer(
      OVERVIEW,
      overview({ total_lag: null, in_rate: null, dead_letters: null, brokers_answering: 0, brokers: [broker("broker-b", { reachable: false })], missing: [{ broker: "broker-b", reason: REASON, since: at }], unknown_reason: REASON, last_known }),
    )
    renderApp(<Wallboard cluster="local" alerts={undefined} />)
    expect(await screen.findByText(/^broker-b has not answered for \d+ s/)).toBeTruthy()
    expect(figure("Total lag")?.textContent).toMatch(/—was 18,800, 1\d s ago · broker-b .*refused the connection/)
    expect(figure("Dead letters")?.textContent).toMatch(/—broker-b .*refused the connection/)
    expect(figure("Firing alerts")?.textContent).toContain("—the alerts could not be read")
    expect(figure("Brokers answering")?.textContent).toContain("0 / 1")
    for (const health of ["nothing waits", "No group is behind"]) expect(screen.queryByText(health)).toBeNull()
  })

  it("has one word for each group that is unknown, and their reason once", async () => {
    const other = "broker-c at 10.0.0.3:10911 is too busy to answer"
    const groups = ["a", "b", "c"].map((name) => groupSummary(`group-${name}`, { lag: null, time_lag_ms: null, state: "unknown", unknown_reason: `${REASON}; ${other}` }))
    answer(OVERVIEW, overview({ missing: [{ broker: "broker-b", reason: REASON, since: null }], worst_groups: groups }))
    renderApp(<Wallboard cluster="local" alerts={alerts} />)
    expect((await screen.findByText("group-a")).closest("li")?.textContent).toBe("group-aUnknown——")
    expect(screen.getAllByText(/broker-b .*refused the connection/)).toHaveLength(1)
    expect(screen.getAllByText(/broker-c .*is too busy to answer/)).toHaveLength(1)
  })

  it("says in big letters that no figures come any more, and how old they are", async () => {
    const at = new Date(Date.now() - 3_600_000).toISOString()
    answer(OVERVIEW, overview({ at }))
    renderApp(<Wallboard cluster="local" alerts={alerts} />)
    await screen.findByText("Total lag")
    expect(screen.queryByText(/^No new figures/)).toBeNull()
    act(() => void vi.advanceTimersByTime(17_000))
    expect(screen.getByText(/^No new figures for 1 h/)).toBeTruthy()
  })

  it("says that the gateway is gone and since when", async () => {
    answer(OVERVIEW, overview())
    renderApp(<Wallboard cluster="local" alerts={alerts} />)
    await screen.findByText("Total lag")
    act(() => reachable.set({ ok: false, since: Date.now() - 65_000 }))
    expect(screen.getByText(/^The gateway has not answered for 1 min/)).toBeTruthy()
  })
})
