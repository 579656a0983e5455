import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { FakeSocket } from "@/testing/socket"
import { LiveConnection, type LiveEvent } from "./live"

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

describe("the live connection", () => {
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
