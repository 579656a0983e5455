import { act, screen } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { ActivityEvent, EventKind } from "@/lib/api-types"
import { live } from "@/lib/live"
import { page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { EventsPanel } from "./events-panel"
import { RecentEvents } from "./recent-events"
import { ResourceEvents } from "./resource-events"

const EVENTS = "GET /api/v1/clusters/local/events"
const event = (seq: number, kind: EventKind, about: Partial<ActivityEvent> = {}): ActivityEvent => ({
  seq, kind, seen_at: "2026-11-21T06:31:07.412Z", source: "seen", topic: null, group: null, broker: null, client: null, moves: [], moves_total: null, changes: [], alert: null,
  by: null, partial: false, lag: null, reason: null, left_out: null, left_out_kind: null, ...about,
})
const client = { client_id: "shop-1", address: "10.0.0.7:5021", language: "JAVA", version: "V4_9_8" }
const JOINED = event(1, "client_joined", { group: "billing", client })
const MOVED = event(2, "group_rebalanced", {
  group: "billing", moves: [{ topic: "orders", broker: "a", queue_id: 3, from_client: null, to_client: "shop-1" }], moves_total: 9,
})
const CREATED = event(3, "topic_created", { topic: "orders", source: "audit", by: "olga", partial: true })
const WENT = event(4, "broker_went", { broker: "broker-a", reason: "refused the connection" })

const whole = [WENT, CREATED, MOVED, JOINED]
const show = (at = "/live?tab=events") => renderApp(<EventsPanel cluster="local" />, { at })

beforeEach(() => {
  live.close()
  FakeSocket.all = []
})

describe("the events of a cluster", () => {
  it("are sentences with what else is known", async () => {
    answer(EVENTS, page(whole))
    show()
    expect(await screen.findByText("Broker broker-a does not answer")).toBeTruthy()
    expect(screen.getByText("refused the connection")).toBeTruthy()
    expect(screen.getByText("not on all brokers · by olga")).toBeTruthy()
    expect(screen.getByText("orders/a/3: nobody → shop-1, 8 more")).toBeTruthy()
    expect(screen.getByText("10.0.0.7:5021 · JAVA · V4_9_8")).toBeTruthy()
    expect(screen.getByRole("link", { name: "shop-1 joined billing" }).getAttribute("href")).toBe("/groups/billing")
  })

  it("say in words which replica became master, and why", async () => {
    const changes = [{ name: "master_id", before: "1", after: "2" }, { name: "epoch", before: "4", after: "5" }]
    answer(EVENTS, page([event(5, "master_changed", { broker: "broker-a", reason: "killed", changes })]))
    show()
    expect(await screen.findByText("Broker broker-a has another master")).toBeTruthy()
    expect(screen.getByText("master 1 → 2, epoch 4 → 5 · the master's process ended")).toBeTruthy()
  })

  it("are filtered by kind, and a gap belongs to every kind", async () => {
    answer(EVENTS, page([...whole, event(0, "watch_began")]))
    show("/live?tab=events&kind=brokers")
    expect(await screen.findByText("Broker broker-a does not answer")).toBeTruthy()
    expect(screen.getByText(/The sampler started/)).toBeTruthy()
    expect(screen.queryByText("shop-1 joined billing")).toBeNull()
  })

  it("wait while paused, and are counted", async () => {
    answer(EVENTS, page(whole))
    const { user } = show()
    await screen.findByText("Broker broker-a does not answer")
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("activity:local", 4, { items: [...whole].reverse(), complete: true })
    })
    await user.click(screen.getByRole("button", { name: "Pause" }))
    act(() => FakeSocket.last.news("activity:local", 4, [event(5, "broker_came", { broker: "broker-a" }), event(6, "group_behind", { group: "billing", lag: 1204 })], false))
    const proceed = await screen.findByRole("button", { name: "Resume (2 new)" })
    expect(screen.queryByText("Broker broker-a answers")).toBeNull()
    await user.click(proceed)
    expect(screen.getByText("Broker broker-a answers")).toBeTruthy()
    expect(screen.getByText("lag 1,204")).toBeTruthy()
    expect(screen.getByText("Some events here are lost: more came than are kept")).toBeTruthy()
  })

  it("say what is empty, and what could not be read", async () => {
    answer(EVENTS, page([]))
    const { unmount } = show()
    expect(await screen.findByText("Nothing has happened yet")).toBeTruthy()
    unmount()
    refuse(EVENTS, 503, "REDIS_UNREACHABLE", "Redis cannot be reached.")
    renderApp(<RecentEvents cluster="local" />)
    expect(await screen.findByText("The events could not be read")).toBeTruthy()
  })

  it("of one topic are those that are about it", async () => {
    answer(EVENTS, page(whole))
    renderApp(<ResourceEvents cluster="local" kind="topic" name="orders" />)
    expect(await screen.findByText("Topic orders was created")).toBeTruthy()
    expect(screen.getByText("Queues of billing moved to other clients")).toBeTruthy()
    expect(screen.queryByText("shop-1 joined billing")).toBeNull()
  })
})
