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

  it("measures nothing that was never measured", () => {
    const unknown = { items: [{ name: "a", measured_at: null }] }
    expect(applyDelta(unknown, { changed: [], removed: [], measured: [["2", null]] }).items[0]?.measured_at).toBeNull()
  })
})

describe("an activity", () => {
  const seqs = ({ data }: LiveEvent) => (data as { items: { seq: number }[] }).items.map(({ seq }) => seq)

  it("grows by what is new, goes on after a loss of the socket, and knows where events are lost", async () => {
    const { events } = watch("activity:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("activity:local", 7, { items: [{ seq: 5 }, { seq: 7 }], complete: true })
    FakeSocket.last.news("activity:local", 7, [{ seq: 9 }])
    FakeSocket.last.drop()
    await vi.advanceTimersByTimeAsync(1_000)
    FakeSocket.last.greet()
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", subjects: ["activity:local"], after: { "activity:local": 9 } })
    FakeSocket.last.news("activity:local", 9, [{ seq: 300 }], false)
    expect(events.map(seqs)).toEqual([[5, 7], [5, 7, 9], [5, 7, 9, 300]])
    expect(events.at(-1)?.data).toMatchObject({ complete: false, gaps: [300] })
  })

  it("is asked for as a whole where what came before is not here", async () => {
    const { events } = watch("activity:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("activity:local", 7, { items: [{ seq: 7 }], complete: true })
    FakeSocket.last.news("activity:local", 8, [{ seq: 9 }])
    expect(events.map(seqs)).toEqual([[7]])
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", subjects: ["activity:local"] })
  })
})

describe("the live connection", () => {
  it("gives whole states where the server tells what changed", async () => {
    const { events } = watch("groups:local")
    await settle()
    FakeSocket.last.greet()
    const ship = { name: "ship", lag: 0 }
    FakeSocket.last.state("groups:local", 4, { at: "4", items: [{ name: "billing", lag: 1 }, ship] })
    FakeSocket.last.delta("groups:local", 5, { at: "5", changed: [{ name: "billing", lag: 2 }] })
    FakeSocket.last.delta("groups:local", 6, { at: "6", changed: [], removed: ["ship"] })
    expect(events.map(({ type, seq }) => `${type} ${seq}`)).toEqual(["state 4", "state 5", "state 6"])
    expect(events.at(1)?.data).toEqual({ at: "5", items: [{ name: "billing", lag: 2 }, ship] })
    expect(events.at(2)?.data).toEqual({ at: "6", items: [{ name: "billing", lag: 2 }] })
  })

  it("asks again when an event is missing between two", async () => {
    const { events } = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 4, { items: [] })
    FakeSocket.last.delta("topics:local", 6, { changed: [{ name: "orders" }] })
    expect(FakeSocket.last.sent.slice(-2)).toEqual([
      { type: "unsubscribe", subjects: ["topics:local"] },
      { type: "subscribe", subjects: ["topics:local"] },
    ])
    FakeSocket.last.delta("topics:local", 7, { changed: [] })
    FakeSocket.last.state("topics:local", 7, { items: [{ name: "orders" }] })
    FakeSocket.last.delta("topics:local", 8, { changed: [{ name: "copies" }] })
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

  it("waits no longer than a quarter of a minute, however long the gateway is away", async () => {
    watch("jobs")
    await settle()
    for (let turn = 0; turn < 12; turn++) {
      FakeSocket.last.drop()
      vi.advanceTimersByTime(20_000)
      expect(FakeSocket.all).toHaveLength(turn + 2)
    }
  })

  it("begins with short pauses again after a socket that worked", async () => {
    watch("jobs")
    await settle()
    for (let turn = 0; turn < 6; turn++) {
      FakeSocket.last.drop()
      vi.advanceTimersByTime(20_000)
    }
    FakeSocket.last.greet()
    const opened = FakeSocket.all.length
    FakeSocket.last.drop()
    vi.advanceTimersByTime(700)
    expect(FakeSocket.all).toHaveLength(opened + 1)
  })

  it("tells the first state at once and then the newest one at the pace that was chosen", async () => {
    let least = 5_000
    connection = new LiveConnection("ws://gantry.test/ws/v1/events", () => least)
    const { events } = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    for (const seq of [1, 2, 3]) FakeSocket.last.state("jobs", seq, {})
    vi.advanceTimersByTime(4_999)
    expect(events.map(({ seq }) => seq)).toEqual([1])
    vi.advanceTimersByTime(1)
    expect(events.map(({ seq }) => seq)).toEqual([1, 3])
    least = Infinity
    FakeSocket.last.state("jobs", 4, {})
    vi.advanceTimersByTime(600_000)
    expect(events).toHaveLength(2)
    connection.release()
    expect(events.map(({ seq }) => seq)).toEqual([1, 3, 4])
  })

  it("does not come back at the same moment in all tabs", async () => {
    const opened = [0, 0.9].map((random) => {
      vi.spyOn(Math, "random").mockReturnValue(random)
      const tab = new LiveConnection("ws://gantry.test/ws/v1/events")
      tab.subscribe("jobs", () => undefined)
      FakeSocket.last.drop()
      const before = FakeSocket.all.length
      vi.advanceTimersByTime(500)
      tab.close()
      return FakeSocket.all.length - before
    })
    expect(opened).toEqual([1, 0])
    await settle()
  })

  it("says since when it is lost, not since its last try", async () => {
    watch("jobs")
    await settle()
    FakeSocket.last.greet()
    vi.setSystemTime(10_000)
    FakeSocket.last.drop()
    vi.advanceTimersByTime(5_000)
    FakeSocket.last.drop()
    expect(connection.status.get()).toEqual({ state: "lost", since: 10_000 })
  })

  it("goes on with the others when one subject is denied", async () => {
    const secret = watch("group:local:secret")
    const { events } = watch("jobs")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.deny("group:local:secret")
    FakeSocket.last.state("jobs", 1, "job")
    expect(events).toHaveLength(1)
    expect(secret.events).toEqual([])
    expect(connection.status.get().state).toBe("open")
  })

  it("gives a change to every watcher, each the same whole", async () => {
    const first = watch("topics:local")
    const second = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 1, { items: [{ name: "orders", lag: 1 }] })
    FakeSocket.last.delta("topics:local", 2, { changed: [{ name: "orders", lag: 2 }] })
    expect(second.events).toEqual(first.events)
    expect(second.events.at(-1)?.data).toEqual({ items: [{ name: "orders", lag: 2 }] })
  })

  it("asks for the rows of all who show some of a list, and for all rows when somebody shows all", async () => {
    const stop = connection.subscribe("topics:local", () => undefined, ["b", "a"])
    connection.subscribe("topics:local", () => undefined, ["c", "a"])
    await settle()
    FakeSocket.last.greet()
    expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", subjects: ["topics:local"], rows: { "topics:local": ["a", "b", "c"] } }])
    stop()
    await settle()
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", subjects: ["topics:local"], rows: { "topics:local": ["a", "c"] } })
    watch("topics:local")
    await settle()
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", subjects: ["topics:local"] })
    expect(FakeSocket.last.sent).toHaveLength(3)
  })

  it("takes the state of other rows although its number is that of the last one", async () => {
    const { events } = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 4, { items: [] })
    FakeSocket.last.state("topics:local", 4, { items: [{ name: "orders" }] })
    FakeSocket.last.state("topics:local", 3, { items: [] })
    expect(events.at(-1)?.data).toEqual({ items: [{ name: "orders" }] })
  })

  it("makes nothing of a change without the state before it: that is on its way", async () => {
    const { events } = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.delta("topics:local", 5, { changed: [{ name: "orders" }] })
    expect(events).toEqual([])
    expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", subjects: ["topics:local"] }])
  })

  it("asks anew for a subject that was left and is wanted again, and forgets what it was", async () => {
    const old = watch("topics:local")
    await settle()
    FakeSocket.last.greet()
    FakeSocket.last.state("topics:local", 4, { items: [{ name: "gone" }] })
    old.stop()
    await settle()
    const { events } = watch("topics:local")
    await settle()
    FakeSocket.last.delta("topics:local", 5, { changed: [] })
    FakeSocket.last.state("topics:local", 1, { items: [] })
    expect(FakeSocket.last.subscribed).toEqual(["topics:local", "topics:local"])
    expect(events.map(({ data }) => data)).toEqual([{ items: [] }])
  })

  it("takes nothing from a socket it has given up", async () => {
    const { events } = watch("jobs")
    await settle()
    const old = FakeSocket.last
    old.greet()
    connection.close()
    connection.reconnect()
    old.state("jobs", 1, "late")
    old.drop()
    expect(events).toEqual([])
    expect(FakeSocket.all).toHaveLength(2)
  })

  it("comes back after a sign-in, when something is watched again", async () => {
    watch("jobs").stop()
    await settle()
    FakeSocket.last.drop(4401)
    watch("overview:local")
    await settle()
    FakeSocket.last.greet()
    expect(FakeSocket.all).toHaveLength(2)
    expect(FakeSocket.last.subscribed).toEqual(["overview:local"])
  })
})
