import { screen, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { MessageTrace, TracedConsumption } from "@/lib/api-types"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { MessageTraces } from "./message-traces"

const TRACE = "GET /api/v1/clusters/local/messages/AC11/trace"
const AT = (second: number) => `2026-11-21T06:00:0${second}.000Z`
const call = (overrides: Partial<TracedConsumption>): TracedConsumption => ({
  group: "billing", client: "10.0.0.7", started_at: AT(1), ended_at: AT(2), cost_ms: 27, success: true, outcome: "success", tries: 0, ...overrides,
})
const traceOf = (overrides: Partial<MessageTrace>): MessageTrace => ({
  message_id: "AC11", trace_topic: "RMQ_SYS_TRACE_TOPIC", state: "traced", complete: true, missing: [], from_slaves: [], sent: [], consumed: [], ended: [], recalled: [], hidden: 0, unread: 0, ...overrides,
})
const show = (overrides: Partial<MessageTrace>) => {
  answer(TRACE, traceOf(overrides))
  renderApp(<MessageTraces cluster="local" address={{ id: "AC11", topic: "orders" }} bornAt={AT(0)} />)
}

describe("what clients traced", () => {
  it("has each step in the order of time, with who, how long and how it ended", async () => {
    show({
      sent: [{ at: AT(0), cost_ms: 16, group: "shop", client: "10.0.0.1", type: "half", success: true, store_host: "10.0.0.2:10911", offset_id: "0A", tag: null, keys: [], body_bytes: 5 }],
      ended: [{ at: AT(1), group: "shop", client: "10.0.0.1", state: "COMMIT_MESSAGE", from_check: true }],
      consumed: [
        call({ started_at: AT(2), success: false, outcome: "exception" }),
        call({ started_at: AT(3), tries: 1 }),
        call({ group: "audit", started_at: AT(4), ended_at: null, cost_ms: null, success: null, outcome: null }),
      ],
    })
    const lines = (await screen.findAllByRole("listitem")).map((line) => line.textContent)
    expect(lines.map((line) => /(Sent|Committed|Failed|Consumed|Handed) \w+ \w+/.exec(line)?.[0])).toEqual([
      "Sent by shop10", "Committed by shop10", "Failed in billing10", "Consumed by billing10", "Handed to audit10",
    ])
    expect(lines[0]).toContain("half message of a transaction")
    expect(lines[1]).toContain("the broker had asked")
    expect(lines[2]).toMatch(/\+2.*took 27.*exception · delivery 1/)
    expect(lines[3]).toContain("delivery 2")
    expect(lines[4]).toContain("no end traced")
  })

  it("sums up each group, and does not take a call without an end for one that failed", async () => {
    show({
      consumed: [
        call({ success: false, outcome: "failed" }),
        call({ started_at: AT(3), cost_ms: 3 }),
        call({ group: "audit", ended_at: null, cost_ms: null, success: null, outcome: null }),
        call({ group: "mail", success: false, outcome: "timeout" }),
      ],
    })
    const row = (group: string) => within(screen.getByRole("link", { name: group }).parentElement as HTMLElement)
    expect(await screen.findByRole("link", { name: "billing" })).toBeDefined()
    expect(row("billing").getByText("Consumed")).toBeDefined()
    expect(row("billing").getByText(/2 calls · 1 failed · 30/)).toBeDefined()
    expect(row("audit").getByText("No end traced")).toBeDefined()
    expect(row("mail").getByText("Failed")).toBeDefined()
  })

  it("says which slave was read in the place of its master", async () => {
    show({ state: "unknown", complete: false, from_slaves: [{ broker: "broker-a", broker_id: 1, reason: "broker-a at 10.0.0.1:10911 refused the connection" }] })
    expect(await screen.findByText(/^The newest messages of broker-a may be missing: slave 1 was read/)).toBeDefined()
  })

  it("says what nobody traced, and how it would be", async () => {
    show({ state: "none" })
    expect(await screen.findByText(/does not say that nobody consumed it/)).toBeDefined()
    expect(screen.getByText(/enableMsgTrace/)).toBeDefined()
  })

  it("says that there is no topic for traces", async () => {
    show({ state: "no_topic" })
    expect(await screen.findByText(/it has no topic RMQ_SYS_TRACE_TOPIC/)).toBeDefined()
  })

  it("does not call untraced what was not searched", async () => {
    show({ state: "unknown", complete: false, missing: [{ broker: "broker-b", reason: "connection refused", since: null }] })
    expect(await screen.findByText(/not everything was searched/)).toBeDefined()
    expect(screen.getByText(/broker-b/)).toBeDefined()
    expect(screen.queryByText(/enableMsgTrace/)).toBeNull()
  })

  it("counts the calls in groups that one may not read", async () => {
    show({ hidden: 2 })
    expect(await screen.findByText(/2 more calls in groups/)).toBeDefined()
  })
})
