import { QueryClient } from "@tanstack/react-query"
import { waitFor } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { admin, naming } from "@/testing/factories"
import { renderCached } from "@/testing/hook"
import { answer, refuse, requests } from "@/testing/server"
import { useNameRule } from "./use-naming"
import { type Right, useMay } from "./use-rights"

const ME = "GET /api/v1/me"
const NAMING = "GET /api/v1/naming"
const RIGHTS: Right[] = ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs", "admin"]
let cache: QueryClient

beforeEach(() => {
  cache = new QueryClient({ defaultOptions: { queries: { retry: false } } })
})

describe("what one may do", () => {
  const rights = () =>
    renderCached(cache, () => ({
      produce: useMay("produce"),
      consume: useMay("consume"),
      read: useMay("read"),
      bodies: useMay("bodies"),
      manage: useMay("manage"),
      offsets: useMay("offsets"),
      redrive: useMay("redrive"),
      delete: useMay("delete"),
      jobs: useMay("jobs"),
      admin: useMay("admin"),
    })).result
  const granted = (may: Record<Right, boolean>) => RIGHTS.filter((right) => may[right])

  it.each([
    ["viewer", ["read"]],
    ["developer", ["produce", "consume", "read", "bodies"]],
    ["operator", ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs"]],
    ["admin", RIGHTS],
  ] as const)("is what the API grants a %s, nothing more", async (role, known) => {
    answer(ME, admin({ role, rights: [...known] }))
    const may = rights()
    await waitFor(() => expect(granted(may.current)).toEqual(known))
  })

  it("is not concluded from the role: the token of an admin may have less", async () => {
    answer(ME, admin({ role: "admin", rights: ["read"] }))
    const may = rights()
    await waitFor(() => expect(granted(may.current)).toEqual(["read"]))
  })

  it("is nothing until it is known, and where it cannot be known", async () => {
    refuse(ME, 503, "DRAINING", "Shutting down.")
    const may = rights()
    expect(granted(may.current)).toEqual([])
    await waitFor(() => expect(cache.getQueryState(["me"])?.status).toBe("error"))
    expect(granted(may.current)).toEqual([])
  })

  it("is asked for once, however many buttons want to know", async () => {
    answer(ME, admin())
    const may = rights()
    await waitFor(() => expect(may.current.admin).toBe(true))
    rights()
    expect(requests(ME)).toHaveLength(1)
  })
})

describe("how things may be called", () => {
  const rule = (kind: "topic" | "group") => renderCached(cache, () => useNameRule(kind)).result

  it.each([
    ["topic", 127],
    ["group", 120],
  ] as const)("is a rule of the API for a %s: to %s characters", async (kind, most) => {
    answer(NAMING, naming())
    const { current } = rule(kind)
    expect(current.maxLength).toBeUndefined()
    const known = rule(kind)
    await waitFor(() => expect(known.current.maxLength).toBe(most))
    expect([most, most + 1].map((length) => known.current.fits("x".repeat(length)))).toEqual([true, false])
    expect(known.current.fits("")).toBe(false)
  })

  it("follows the API when a later version allows more", async () => {
    answer(NAMING, { ...naming(), topic: { pattern: "^[a-z.]{1,10}$", max_length: 10 } })
    const known = rule("topic")
    await waitFor(() => expect(known.current.maxLength).toBe(10))
    expect(["a.b", "a-b"].map((name) => known.current.fits(name))).toEqual([true, false])
  })

  it("is left to the API while it is not known, but nothing is no name", () => {
    refuse(NAMING, 503, "DRAINING", "Shutting down.")
    const { current } = rule("topic")
    expect(["a|b", ""].map((name) => current.fits(name))).toEqual([true, false])
  })
})
