import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { FakeSocket } from "@/testing/socket"
import { applyDelta, LiveConnection, type LiveEvent } from "./live"

const settle = () => Promise.resolve()
let connection: LiveConnection

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.all = []
  connection = new LiveConnection("ws://gantry.test/ws/v1/events")
})

afterEach(() => {
  connection.close()
  vi.useRealTimers()
})

function watch(subject: string) {
  const events: LiveEvent[] = []
  const stop = connection.subscribe(subject, (event) => events.push(event))
  return { events, stop }
}

function delta(subject: string, seq: number, data: object) {
  const whole = { removed: [], measured: [], ...data }
  const event = { type: "delta", subject, seq, at: "2026-11-21T06:31:08.412Z", data: whole }
  FakeSocket.last.onmessage?.({ data: JSON.stringify(event) })
}

describe("a delta", () => {
  const items = ["a", "b", "c"].map((name, lag) => ({ name, lag, measured_at: "1" }))
  const before = { at: "1", missing: [], items }

  it("makes the next state of the last one", () => {
    const changed = [{ name: "b", lag: 3, measured_at: "2" }, { name: "d", lag: 4, measured_at: "2" }]
    const after = applyDelta(before, { at: "2", missing: ["x"], changed, removed: ["c"], measured: [] } as never)
    expect(after).toEqual({ at: "2", missing: ["x"], items: [before.items[0], ...changed] })
    expect(after.items[0]).toBe(before.items[0])
  })

  it("moves the moments of what was measured anew and is as it was", () => {
    const after = applyDelta(before, {
      changed: [{ name: "b" }],
      removed: [],
      measured: [
        ["2", null],
        ["3", ["c"]],
      ],
    })
    expect(after.items.map((item) => item.measured_at)).toEqual(["2", undefined, "3"])
  })
})

describe("the live connection", () => {
  it("gives whole states where the server tells what changed", async () => {
    const { events } = watch("groups:local")
    await settle()
    FakeSocket.last.greet()
    const ship = { name: "ship", lag: 0 }
    FakeSocket.last.state("groups:local", 4, { at: "4", items: [{ name: "billing", lag: 1 }, ship] })
    delta("groups:local", 5, { at: "5", changed: [{ name: "billing", lag: 2 }] })
    delta("groups:local", 6, { at: "6", changed: [], removed: ["ship"] })
    expect(events.map(({ type, seq }) => `${type} ${seq}`)).toEqual(["state 4", "state 5", "state 6"])
    expect(events.at(1)?.data).toEqual({ at: "5", items: [{ name: "billing", lag: 2 }, ship] })
    expect(events.at(2)?.data).toEqual({ at: "6", items: [{ name: "billing", lag: 2 }] })
  })

  it("asks again when an event is missing between two", async () => {
    const { events } = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 4, { items: [] })
    delta("topics:local", 6, { changed: [{ name: "orders" }] })
    expect(FakeSocket.last.sent.slice(-2)).toEqual([
      { type: "unsubscribe", subjects: ["topics:local"] },
      { type: "subscribe", subjects: ["topics:local"] },
    ])
    delta("topics:local", 7, { changed: [] })
    FakeSocket.last.state("topics:local", 7, { items: [{ name: "orders" }] })
    delta("topics:local", 8, { changed: [{ name: "copies" }] })
    expect(events.map(({ seq, data }) => [seq, data])).toEqual([
      [4, { items: [] }],
      [7, { items: [{ name: "orders" }] }],
      [8, { items: [{ name: "orders" }, { name: "copies" }] }],
    ])
  })

  it("opens one socket for all subjects and asks for each once", async () => {
    watch("overview:local")
    watch("overview:local")
    watch("jobs")
    await settle()
    FakeSocket.last.greet()
    expect(FakeSocket.all).toHaveLength(1)
    expect(FakeSocket.last.subscribed).toEqual(["overview:local", "jobs"])
    expect(connection.status.get().state).toBe("open")
  })

  it("gives the states of a subject to those who watch it", async () => {
    const { events } = watch("overview:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("overview:local", 1, { in_rate: 5 })
    FakeSocket.last.state("overview:other", 1, { in_rate: 6 })
    expect(events.map(({ data }) => data)).toEqual([{ in_rate: 5 }])
  })

  it("drops a state that is older than the one before", async () => {
    const { events } = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("jobs", 8, "new")
    FakeSocket.last.state("jobs", 7, "old")
    expect(events.map(({ data }) => data)).toEqual(["new"])
  })

  it("says nothing to a socket that closes, and asks the next one for what is wanted by then", async () => {
    const old = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.closing()
    old.stop()
    watch("overview:local")
    await settle()
    FakeSocket.last.drop()
    await vi.advanceTimersByTimeAsync(1_000)
    FakeSocket.last.greet()
    expect(FakeSocket.all).toHaveLength(2)
    expect(FakeSocket.last.subscribed).toEqual(["overview:local"])
  })

  it("leaves a subject when its last watcher goes", async () => {
    const first = watch("jobs")
    const second = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    first.stop()
    await settle()
    expect(FakeSocket.last.sent.filter(({ type }) => type === "unsubscribe")).toEqual([])
    second.stop()
    await settle()
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "unsubscribe", subjects: ["jobs"] })
  })

  it("connects again after a loss, slower each time, and asks for all subjects again", async () => {
    const { events } = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("jobs", 9, "before")
    FakeSocket.last.drop()
    expect(connection.status.get().state).toBe("lost")
    vi.advanceTimersByTime(700)
    expect(FakeSocket.all).toHaveLength(2)
    FakeSocket.last.drop()
    vi.advanceTimersByTime(650)
    expect(FakeSocket.all).toHaveLength(2)
    vi.advanceTimersByTime(700)
    expect(FakeSocket.all).toHaveLength(3)
    FakeSocket.last.greet()
    expect(FakeSocket.last.subscribed).toEqual(["jobs"])
    // The numbers of the server may have begun anew.
    FakeSocket.last.state("jobs", 1, "after")
    expect(events.map(({ data }) => data)).toEqual(["before", "after"])
  })

  it("does not knock again when nobody is signed in", async () => {
    watch("jobs")
    await settle()
    FakeSocket.last.drop(4401)
    vi.advanceTimersByTime(60_000)
    expect(FakeSocket.all).toHaveLength(1)
  })

  it("connects at once when somebody asks for it", async () => {
    watch("jobs")
    await settle()
    FakeSocket.last.drop()
    connection.reconnect()
    expect(FakeSocket.all).toHaveLength(2)
  })
})
