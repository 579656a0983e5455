import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { TopicSample } from "./topic-sample"

const ANALYZE = "POST /api/v1/clusters/local/topics/orders:analyze"
const found = {
  sampled: 1000,
  complete: false,
  oldest: "2026-05-01T08:00:00.000Z",
  newest: "2026-05-01T08:10:00.000Z",
  sizes: { smallest: 180, p50: 210, p90: 1_400, p99: 9_000, largest: 20_000, mean: 402.5 },
  keys: { messages: 900, distinct: 850, repeated: [{ name: "A17", messages: 12 }] },
  tags: { messages: 1000, distinct: 2, most: [{ name: "paid", messages: 750 }] },
  retried: 0,
  damaged: 0,
  missing: [],
}

describe("the sample of a topic", () => {
  it("says that it is one, and what the messages are like", async () => {
    answer(ANALYZE, found)
    renderApp(<TopicSample cluster="local" topic="orders" />, { at: "/topics/orders?tab=sample" })
    expect(await screen.findByText("a sample: the newest 1,000 messages")).toBeTruthy()
    expect(screen.getByText("210 B")).toBeTruthy()
    expect(screen.getByText("75.0 %")).toBeTruthy()
    expect(screen.getByText("A17")).toBeTruthy()
    expect(requests(ANALYZE)[0]?.body).toEqual({ sample: 1000 })
  })

  it("names the broker whose messages are not in it, and keeps the number in the address", async () => {
    answer(ANALYZE, { ...found, missing: [{ broker: "broker-b", reason: "broker-b refused the connection", since: null }] })
    const { user, address } = renderApp(<TopicSample cluster="local" topic="orders" />, { at: "/topics/orders?tab=sample" })
    expect(await screen.findByText(/Without the messages on broker-b/)).toBeTruthy()
    await user.click(screen.getByText("Newest 100"))
    expect(address()).toContain("sample=100")
  })

  it("shows no figures of an empty topic", async () => {
    answer(ANALYZE, { ...found, sampled: 0, sizes: null })
    renderApp(<TopicSample cluster="local" topic="orders" />)
    expect(await screen.findByText("The topic holds no message")).toBeTruthy()
  })
})
