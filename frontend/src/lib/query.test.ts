import { useMutation, useQuery } from "@tanstack/react-query"
import { act } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { renderCached } from "@/testing/hook"
import { answer, refuse, requests, unplug } from "@/testing/server"
import { api } from "./api-client"
import { refreshPreference } from "./preferences"
import { createQueryClient } from "./query"

const LINE = "GET /api/v1/x"

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const read = () => renderCached(createQueryClient(), () => useQuery({ queryKey: ["x"], queryFn: () => api.get("/api/v1/x") })).result
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))

describe("how often it is read again", () => {
  afterEach(() => refreshPreference.set("live"))

  it.each([
    ["live", 2_000, 6],
    ["5s", 2_000, 3],
    ["30s", 2_000, 1],
    ["30s", 60_000, 1],
    ["off", 2_000, 1],
  ] as const)("is as chosen (%s), but never more often than the page needs (%d ms)", async (chosen, everyMs, times) => {
    refreshPreference.set(chosen)
    answer(LINE, { name: "orders" })
    renderCached(createQueryClient(), () => useQuery({ queryKey: ["x"], queryFn: () => api.get("/api/v1/x"), refetchInterval: () => everyMs }))
    await pass(11_000)
    expect(requests(LINE)).toHaveLength(times)
  })
})

describe("what is read", () => {
  it("is asked for three times, each pause longer, before a failure that may pass is shown", async () => {
    answer(LINE, { title: "Busy", status: 503, code: "BROKER_UNREACHABLE", retryable: true }, 503)
    const result = read()
    await pass(499)
    expect(requests(LINE)).toHaveLength(1)
    await pass(1)
    expect(requests(LINE)).toHaveLength(2)
    await pass(999)
    expect([requests(LINE).length, result.current.isError]).toEqual([2, false])
    await pass(10)
    expect(result.current.error).toMatchObject({ code: "BROKER_UNREACHABLE" })
    await pass(60_000)
    expect(requests(LINE)).toHaveLength(3)
  })

  it("is shown without a word of the failure when a later try succeeds", async () => {
    unplug(LINE)
    const result = read()
    await pass(100)
    answer(LINE, { name: "orders" })
    await pass(500)
    expect(result.current).toMatchObject({ data: { name: "orders" }, error: null })
  })

  it.each([
    [401, "NOT_SIGNED_IN"],
    [403, "FORBIDDEN"],
    [404, "NOT_FOUND"],
    [422, "INVALID"],
  ])("is not asked for again when the API refuses it (%s)", async (status, code) => {
    refuse(LINE, status, code, "No.")
    const result = read()
    await pass(60_000)
    expect(result.current.error).toMatchObject({ status, code })
    expect(requests(LINE)).toHaveLength(1)
  })

  it("is not asked for again when the answer is no JSON: the next one would be none either", async () => {
    answer(LINE, () => ({ text: "<html>" }))
    const result = read()
    await pass(60_000)
    expect(result.current.isError).toBe(true)
    expect(requests(LINE)).toHaveLength(1)
  })

  it("is asked for though the browser believes it is offline: the gateway may be on this machine", async () => {
    vi.spyOn(navigator, "onLine", "get").mockReturnValue(false)
    act(() => void window.dispatchEvent(new Event("offline")))
    answer(LINE, { name: "orders" })
    const result = read()
    await pass(100)
    expect(result.current.data).toEqual({ name: "orders" })
    act(() => void window.dispatchEvent(new Event("online")))
  })
})

describe("a change", () => {
  it("is never sent twice by itself, not even after a failure that may pass", async () => {
    unplug("POST /api/v1/x")
    const { result } = renderCached(createQueryClient(), () => useMutation({ mutationFn: () => api.post("/api/v1/x", {}) }))
    act(() => result.current.mutate())
    await pass(60_000)
    expect(result.current.error).toMatchObject({ code: "GATEWAY_UNREACHABLE" })
    expect(requests("POST /api/v1/x")).toHaveLength(1)
  })
})
