import { fireEvent, screen, within } from "@testing-library/react"
import { useState } from "react"
import { beforeEach, describe, expect, it } from "vitest"
import { groupSummary, overview } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { OverviewFigures } from "./overview-figures"
import { WorstGroups } from "./worst-groups"

const figure = async (label: string) => (await screen.findByText(label)).parentElement?.textContent ?? ""

beforeEach(() => {
  answer("GET /api/v1/clusters/local/overview/history", { step_ms: 1_000, from: "2026-11-21T06:00:00Z", to: "2026-11-21T06:15:00Z", series: {}, group_lag: {} })
})

describe("the groups furthest behind", () => {
  it("lead to the group, with lag, growth and age", async () => {
    const worst = groupSummary("billing", { state: "growing", lag: 18_800, time_lag_ms: 105_000, lag_per_second: 287, topics: ["orders"] })
    renderApp(<WorstGroups cluster="local" overview={overview({ worst_groups: [worst], groups: 12, total_lag: 18_800 })} />)
    const row = (await screen.findByText("billing")).closest("a") as HTMLElement
    expect(row.getAttribute("href")).toContain("/groups/billing")
    for (const words of ["18,800", "+287/s", "1 min 45 s"]) expect(within(row).getByText(words)).toBeTruthy()
    expect(screen.getByText("All 12")).toBeTruthy()
  })

  it("say that they are paused, and do not warn of a lag that is meant to grow", async () => {
    const worst = [groupSummary("billing", { state: "growing", lag: 18_800, delivery: "paused" }), groupSummary("shipping", { lag: 7, delivery: "partly_paused" })]
    const shown = overview({ worst_groups: worst, total_lag: 18_807 })
    renderApp(
      <>
        <OverviewFigures overview={shown} />
        <WorstGroups cluster="local" overview={shown} />
      </>,
    )
    expect(await screen.findByText("Paused · orders")).toBeTruthy()
    expect(screen.getByText("Partly paused · orders")).toBeTruthy()
    expect(screen.queryByText(/growing/)).toBeNull()
  })

  it("stand in the order of their lag, and keep their places under the pointer", async () => {
    const of = (billing: number, shipping: number) =>
      overview({ worst_groups: [groupSummary("billing", { lag: billing }), groupSummary("shipping", { lag: shipping })].sort((one, other) => (other.lag ?? 0) - (one.lag ?? 0)) })
    function Moving() {
      const [at, setAt] = useState(0)
      return (
        <>
          <button onKeyDown={() => setAt(at + 1)}>next</button>
          <WorstGroups cluster="local" overview={[of(9, 1), of(1, 9), of(9, 1)][at] ?? of(9, 1)} />
        </>
      )
    }
    const { user } = renderApp(<Moving />)
    const names = () => screen.getAllByText(/^(billing|shipping)$/).map(({ textContent }) => textContent)
    const next = await screen.findByText("next")
    expect(names()).toEqual(["billing", "shipping"])
    fireEvent.keyDown(next)
    expect(names()).toEqual(["shipping", "billing"])
    await user.hover(screen.getByText("shipping"))
    fireEvent.keyDown(next)
    expect(names()).toEqual(["shipping", "billing"])
    await user.unhover(screen.getByText("shipping"))
    expect(names()).toEqual(["billing", "shipping"])
  })

  it("say what a lag was while it is not known, and why", async () => {
    const worst = groupSummary("billing", { state: "unknown", lag: null, unknown_reason: "broker-b is not listed by any name server" })
    renderApp(<WorstGroups cluster="local" overview={overview({ worst_groups: [worst] })} />)
    expect(await screen.findByText("Unknown: broker-b is not listed by any name server")).toBeTruthy()
  })

  it("are none only where the total was measured", async () => {
    renderApp(<WorstGroups cluster="local" overview={overview({ total_lag: 0 })} />)
    expect(await screen.findByText("No group is behind")).toBeTruthy()
  })
})

describe("the key figures", () => {
  it("warn of the disk from 85 % on, and tell when it is full", async () => {
    renderApp(<OverviewFigures overview={overview({ disk_used_ratio: 0.91, disk_days_to_full: 3.2 })} />)
    const words = await figure("Disk")
    expect(words).toContain("91")
    expect(words).toContain("full in 3 days at this rate")
    expect(screen.getByText("Disk").parentElement?.dataset.tone).toBe("crit")
  })

  it("say within a day when it is that close", async () => {
    renderApp(<OverviewFigures overview={overview({ disk_used_ratio: 0.91, disk_days_to_full: 0.4 })} />)
    expect(await figure("Disk")).toContain("full within a day")
  })

  it("say how the total lag changes, also where no group is called growing", async () => {
    renderApp(<OverviewFigures overview={overview({ total_lag: 500, lag_per_second: 4 })} />)
    expect(await figure("Total lag")).toContain("+4/s over 5 min")
  })

  it("mark the total as incomplete while groups are unknown", async () => {
    renderApp(<OverviewFigures overview={overview({ total_lag: 500, lag_unknown_groups: 2 })} />)
    const words = await figure("Total lag")
    expect(words).toContain("500+")
    expect(words).toContain("2 groups unknown")
  })

  it("give dead letters and the groups they are of", async () => {
    renderApp(<OverviewFigures overview={overview({ dead_letters: 1_204, dead_letter_groups: 1 })} />)
    const words = await figure("Dead letters")
    expect(words).toContain("1,204")
    expect(words).toContain("1 group")
  })

  it("raise that not every broker answers", async () => {
    renderApp(<OverviewFigures overview={overview({ brokers_answering: 0 })} />)
    expect(await figure("Broker up")).toContain("0 of 1 broker process answers")
  })
})
