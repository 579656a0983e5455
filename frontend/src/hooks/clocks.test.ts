import { act, renderHook } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { useAge } from "./use-age"
import { useDebounced } from "./use-debounced"
import { useNow } from "./use-now"
import { useTail } from "./use-tail"

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms))

describe("the age of data", () => {
  it("is told once it is older than allowed, and grows", () => {
    const { result } = renderHook(() => useAge(1_000_000, 15_000))
    pass(14_000)
    expect(result.current).toBeNull()
    pass(2_000)
    expect(result.current).toBe(16_000)
    pass(10_000)
    expect(result.current).toBe(26_000)
  })

  it("is gone as soon as new data comes", () => {
    const { result, rerender } = renderHook(({ at }) => useAge(at, 15_000), { initialProps: { at: 1_000_000 } })
    pass(20_000)
    expect(result.current).toBe(20_000)
    rerender({ at: 1_020_000 })
    expect(result.current).toBeNull()
  })

  it("is none of data that never came, nor of what is not meant to move", () => {
    expect(renderHook(() => useAge(0, 15_000)).result.current).toBeNull()
    const { result } = renderHook(() => useAge(1_000_000, undefined))
    pass(600_000)
    expect(result.current).toBeNull()
  })
})

describe("what stands still", () => {
  it("is told once, after the last of many changes", () => {
    const seen: string[] = []
    const { rerender } = renderHook(({ typed }) => seen.push(useDebounced(typed, 250)), { initialProps: { typed: "" } })
    for (const typed of ["o", "or", "ord"]) {
      rerender({ typed })
      pass(200)
    }
    expect(new Set(seen)).toEqual(new Set([""]))
    pass(50)
    expect([...new Set(seen)]).toEqual(["", "ord"])
  })
})

describe("the clock of a page", () => {
  it("stops when the page is left", () => {
    const { result, unmount } = renderHook(() => useNow(5_000))
    pass(5_000)
    expect(result.current).toBe(1_005_000)
    unmount()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe("the samples since a page was opened", () => {
  const sample = (at: number) => ({ at, values: { lag: at } })
  const times = (samples: { at: number }[]) => samples.map(({ at }) => at)
  const shown = () => renderHook(({ key, now }) => useTail(key, now), { initialProps: { key: "billing", now: sample(1) as ReturnType<typeof sample> | null } })

  it("are kept in their order, each moment once, through moments without one", () => {
    const { result, rerender } = shown()
    for (const now of [sample(2), null, sample(2), sample(3)]) rerender({ key: "billing", now })
    expect(times(result.current)).toEqual([1, 2, 3])
  })

  it("are those of a quarter of an hour", () => {
    const { result, rerender } = shown()
    for (const minute of [1, 10, 15, 16]) rerender({ key: "billing", now: sample(minute * 60_000) })
    expect(times(result.current)).toEqual([600_000, 900_000, 960_000])
  })

  it("of one group are never drawn as those of another", () => {
    const { result, rerender } = shown()
    rerender({ key: "shipping", now: null })
    expect(result.current).toEqual([])
    rerender({ key: "shipping", now: sample(9) })
    expect(times(result.current)).toEqual([9])
  })
})
