import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { TopicStats as Stats } from "@/lib/api-types"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { TopicStats } from "./topic-stats"

const STATS = "GET /api/v1/clusters/local/topics/orders/stats"
const FROM = "2026-05-01T08:00:00.000Z"
const TO = "2026-05-01T08:03:00.000Z"

const stats = (totals: Partial<Stats["totals"]> = {}, rest: Partial<Stats> = {}): Stats => ({
  step_ms: 60_000,
  from: FROM,
  to: TO,
  series: { in_rate: [null, 2, 0], out_rate: [null, 1, 0], messages: [10, 130, 130], size_bytes: [900, 2_048, null], max_lag: [0, 60, 60] },
  totals: { measured_minutes: 3, messages_in: 1_120, messages_in_since: FROM, messages_out: 60, peak_in_rate: 2, peak_in_at: "2026-05-01T08:01:00.000Z", peak_out_rate: 0, peak_out_at: null, ...totals },
  groups_hidden: false,
  ...rest,
})

const show = (at = "/topics/orders?tab=stats") => renderApp(<TopicStats cluster="local" topic="orders" />, { at })

describe("the statistics of a topic", () => {
  it("show the sums and peaks of a day, and how much of it was measured", async () => {
    answer(STATS, stats())
    show()
    expect(await screen.findByText("1,120")).toBeTruthy()
    expect(screen.getByText("nothing moved")).toBeTruthy()
    expect(screen.getByText(/3 of 3 minutes were measured\. The messages held take 2,048 B\./)).toBeTruthy()
    expect(screen.getByRole("img", { name: "Rates, messages and lag over time" })).toBeTruthy()
  })

  it("ask for the range of the address, as close as it is kept", async () => {
    answer(STATS, stats())
    const { user, address } = show("/topics/orders?tab=stats&range=7d")
    expect(await screen.findByText("1,120")).toBeTruthy()
    await user.click(screen.getByText("1 h"))
    expect(address()).toBe("/topics/orders?tab=stats&range=1h")
    await screen.findByText(/the last 1 h/)
    expect(requests(STATS).map(({ query }) => query.get("step"))).toEqual(["5m", "1m"])
    // A begin between two steps would add the step that contains it.
    expect(requests(STATS).map(({ query }, at) => Date.parse(query.get("from") ?? "") % ([300_000, 60_000][at] ?? 1))).toEqual([0, 0])
  })

  it("say from when the sum counts if that is not the whole time", async () => {
    answer(STATS, stats({ messages_in: 0, messages_in_since: "2026-05-01T08:01:00.000Z" }))
    show()
    expect(await screen.findByText(/messages stored since/)).toBeTruthy()
    expect(screen.queryByText("messages stored")).toBeNull()
  })

  it("say that nothing was measured, instead of zeros", async () => {
    answer(STATS, stats({ measured_minutes: 0, messages_in: null, messages_in_since: null, messages_out: null, peak_in_rate: null, peak_in_at: null, peak_out_rate: null }))
    show()
    expect(await screen.findByText("Nothing was measured yet")).toBeTruthy()
    expect(screen.queryByRole("img")).toBeNull()
  })

  it("leave out what groups do for those who may not read them all, and say so", async () => {
    answer(STATS, stats({ messages_out: null, peak_out_rate: null }, { groups_hidden: true }))
    show()
    expect(await screen.findByText("1,120")).toBeTruthy()
    expect(screen.queryByText("Largest lag")).toBeNull()
    expect(screen.getByText(/shown to those who may read all groups/)).toBeTruthy()
  })

  it("say why they could not be read", async () => {
    refuse(STATS, 503, "DEPENDENCY_UNAVAILABLE", "Redis does not answer.")
    show()
    expect(await screen.findByText("The statistics could not be read")).toBeTruthy()
  })
})
