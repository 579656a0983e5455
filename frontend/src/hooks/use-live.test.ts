import { QueryClient } from "@tanstack/react-query"
import { act, renderHook } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { renderCached } from "@/testing/hook"
import { FakeSocket } from "@/testing/socket"
import { POLL_MS, useLiveEvents, useLiveQuery, useLiveRows } from "./use-live"

const KEY = ["overview", "local"]
const settle = () => act(() => vi.advanceTimersByTimeAsync(0))
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.all = []
})

afterEach(() => {
  vi.useRealTimers()
})

async function watch(first = "overview:local") {
  const cache = new QueryClient()
  cache.setQueryData(KEY, "read before")
  const rendered = renderCached(cache, ({ subject }) => useLiveQuery(subject, KEY), { subject: first })
  await settle()
  act(() => FakeSocket.last.greet())
  const state = (seq: number, data: unknown, subject = first) => act(() => FakeSocket.last.state(subject, seq, data))
  return { ...rendered, cache, state }
}

describe("a query that is kept fresh by the live channel", () => {
  it("polls until the first event, and not while they arrive", async () => {
    const { result, state } = await watch()
    expect(result.current).toBe(POLL_MS)
    state(1, "live")
    expect(result.current).toBe(false)
  })

  it("shows each state as it comes, in place of what was read", async () => {
    const { cache, state } = await watch()
    expect(cache.getQueryData(KEY)).toBe("read before")
    state(1, { in_rate: 5 })
    state(2, { in_rate: 6 })
    expect(cache.getQueryData(KEY)).toEqual({ in_rate: 6 })
  })

  it("keeps the answer to a change when a sample from before it still comes, unless their clocks are far apart", async () => {
    const { cache, state } = await watch()
    cache.setQueryData(KEY, { at: "2026-11-02T10:00:05.000Z", delivery: "paused" })
    state(1, { at: "2026-11-02T10:00:04.900Z", delivery: "on" })
    expect(cache.getQueryData(KEY)).toHaveProperty("delivery", "paused")
    state(2, { at: "2026-11-02T10:00:05.900Z", delivery: "partly_paused" })
    expect(cache.getQueryData(KEY)).toHaveProperty("delivery", "partly_paused")
    state(3, { at: "2026-11-02T09:00:00.000Z", delivery: "on" })
    expect(cache.getQueryData(KEY)).toHaveProperty("delivery", "on")
  })

  it("polls again once the channel is silent, though the socket is open", async () => {
    const { result, state } = await watch()
    state(1, "live")
    await pass(4_000)
    expect(result.current).toBe(false)
    await pass(2_000)
    expect(result.current).toBe(POLL_MS)
    state(2, "live again")
    expect(result.current).toBe(false)
  })

  it("polls while the socket is lost, and stops when a new one tells the state", async () => {
    const { result, cache, state } = await watch()
    state(7, "before")
    act(() => FakeSocket.last.drop())
    await pass(6_000)
    expect(result.current).toBe(POLL_MS)
    act(() => FakeSocket.last.greet())
    state(1, "after")
    expect([result.current, cache.getQueryData(KEY)]).toEqual([false, "after"])
  })

  it("polls for good where the subject is denied, without asking for it again", async () => {
    const { result, cache } = await watch("group:local:secret")
    act(() => FakeSocket.last.deny("group:local:secret"))
    await pass(60_000)
    expect(result.current).toBe(POLL_MS)
    expect(cache.getQueryData(KEY)).toBe("read before")
    expect(FakeSocket.last.subscribed).toEqual(["group:local:secret"])
    expect(FakeSocket.all).toHaveLength(1)
  })

  it("does not call another subject fresh because the one before it was", async () => {
    const { result, rerender, state } = await watch()
    state(1, "live")
    rerender({ subject: "overview:far" })
    await settle()
    expect(result.current).toBe(POLL_MS)
    expect(FakeSocket.last.subscribed).toEqual(["overview:local", "overview:far"])
    state(9, "of the one before")
    expect(result.current).toBe(POLL_MS)
  })

  it("is left alone when the page is left", async () => {
    const { unmount, cache, state } = await watch()
    state(1, "live")
    unmount()
    await settle()
    state(2, "late")
    expect(cache.getQueryData(KEY)).toBe("live")
    expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "unsubscribe", subjects: ["overview:local"] })
  })
})

describe("events of a subject", () => {
  it("opens no socket while there is none to watch", async () => {
    const { rerender } = renderHook(({ subject }) => useLiveEvents(subject, () => undefined), { initialProps: { subject: null as string | null } })
    await settle()
    expect(FakeSocket.all).toHaveLength(0)
    rerender({ subject: "job:1" })
    await settle()
    expect(FakeSocket.all).toHaveLength(1)
  })

  it("go to what the page shows now, without asking for the subject again", async () => {
    const seen: string[] = []
    const { rerender } = renderHook(({ page }) => useLiveEvents("jobs", ({ data }) => seen.push(`${page} ${String(data)}`)), { initialProps: { page: "first" } })
    await settle()
    act(() => FakeSocket.last.greet())
    act(() => FakeSocket.last.state("jobs", 1, "a"))
    rerender({ page: "second" })
    act(() => FakeSocket.last.state("jobs", 2, "b"))
    expect(seen).toEqual(["first a", "second b"])
    expect(FakeSocket.last.subscribed).toEqual(["jobs"])
  })
})

it("keeps the newest items of the rows in view, and asks for others when the view moves", async () => {
  const { result, rerender } = renderHook(({ names }) => useLiveRows<{ name: string; rate: number }>("topics:local", names), {
    initialProps: { names: ["orders"] },
  })
  await settle()
  act(() => FakeSocket.last.greet())
  expect(result.current.size).toBe(0)
  act(() => FakeSocket.last.state("topics:local", 1, { items: [{ name: "orders", rate: 1 }] }))
  act(() => FakeSocket.last.state("topics:local", 2, { items: [{ name: "orders", rate: 7 }] }))
  expect([...result.current.values()]).toEqual([{ name: "orders", rate: 7 }])
  expect(FakeSocket.last.sent).toEqual([{ type: "subscribe", subjects: ["topics:local"], rows: { "topics:local": ["orders"] } }])
  rerender({ names: ["ships"] })
  await settle()
  expect(FakeSocket.last.sent.at(-1)).toEqual({ type: "subscribe", subjects: ["topics:local"], rows: { "topics:local": ["ships"] } })
  act(() => FakeSocket.last.state("topics:local", 2, { items: [{ name: "ships", rate: 3 }] }))
  expect([...result.current.keys()]).toEqual(["ships"])
})
