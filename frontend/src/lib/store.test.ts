import { act, renderHook } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { createStore, createStoredStore, useStore } from "./store"

describe("a value that many watch", () => {
  it("is rendered anew where it is watched, and nowhere after that", () => {
    const store = createStore(1)
    const { result, unmount } = renderHook(() => useStore(store))
    act(() => store.set(2))
    expect(result.current).toBe(2)
    unmount()
    const told = vi.fn()
    store.subscribe(told)()
    store.set(3)
    expect(told).not.toHaveBeenCalled()
  })

  it("tells nobody of a change that is none", () => {
    const store = createStore<number>(Number.NaN)
    const told = vi.fn()
    store.subscribe(told)
    store.set(Number.NaN)
    expect(told).not.toHaveBeenCalled()
    store.set(0)
    expect(told).toHaveBeenCalledTimes(1)
  })
})

describe("a choice that is kept in the browser", () => {
  it("is there again when the page is opened again", () => {
    createStoredStore("test.pins", ["a"]).set(["orders", "a b"])
    expect(createStoredStore("test.pins", ["a"]).get()).toEqual(["orders", "a b"])
  })

  it("can be nothing, which is not the same as never chosen", () => {
    createStoredStore<string | null>("test.language", "en").set(null)
    expect(createStoredStore<string | null>("test.language", "en").get()).toBeNull()
  })

  it("is the usual one where what was kept cannot be read", () => {
    localStorage.setItem("test.zone", "{half")
    expect(createStoredStore("test.zone", "UTC").get()).toBe("UTC")
  })

  it("holds for the tab in a browser that forbids to keep anything", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("quota", "QuotaExceededError")
    })
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new DOMException("denied", "SecurityError")
    })
    const store = createStoredStore("test.density", "standard")
    store.set("compact")
    expect(store.get()).toBe("compact")
    expect(createStoredStore("test.density", "standard").get()).toBe("standard")
  })
})
