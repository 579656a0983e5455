import { QueryClient } from "@tanstack/react-query"
import { act, renderHook } from "@testing-library/react"
import { expect, it } from "vitest"
import { refreshAll, useFrozenOrder } from "./use-frozen-order"

const rows = (...names: string[]) => names.map((name) => ({ name }))
const shown = (first: { name: string }[], key: string | null = "-lag") =>
  renderHook(({ read, by }) => useFrozenOrder(read, by)?.map(({ name }) => name), { initialProps: { read: first, by: key } })

it("keeps the order while values move, and lets new rows join at the end", () => {
  const { result, rerender } = shown(rows("a", "b", "c"))
  rerender({ read: rows("c", "a", "new", "b"), by: "-lag" })
  expect(result.current).toEqual(["a", "b", "c", "new"])
})

it("shows each row once, though it moved from one page to another while they were read", () => {
  expect(shown(rows("a", "b", "a")).result.current).toEqual(["a", "b"])
})

it("drops what is gone", () => {
  const { result, rerender } = shown(rows("a", "b"))
  rerender({ read: rows("b"), by: "-lag" })
  expect(result.current).toEqual(["b"])
})

it("holds the order while another is still being read", () => {
  const { result, rerender } = shown(rows("a", "b"))
  rerender({ read: rows("b", "a"), by: null })
  expect(result.current).toEqual(["a", "b"])
})

it("takes the order anew when another is asked for, or by a refresh", async () => {
  const { result, rerender } = shown(rows("a", "b"))
  rerender({ read: rows("b", "a"), by: "name" })
  expect(result.current).toEqual(["b", "a"])
  rerender({ read: rows("a", "b"), by: "name" })
  expect(result.current).toEqual(["b", "a"])
  await act(() => refreshAll(new QueryClient()))
  expect(result.current).toEqual(["a", "b"])
})
