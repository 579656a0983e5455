import { expect, it } from "vitest"
import { bestFirst } from "./best-first"

const names = (words: string, ...all: string[]) => bestFirst(all, words, (name) => name)

it("puts the very name before names that only contain it", () => {
  expect(names("orders", "a-orders", "orders-copy", "Orders", "orders")).toEqual(["orders", "Orders", "orders-copy", "a-orders"])
})

it("leaves out what does not match, and keeps the order of equals", () => {
  expect(names(" or ", "b-or", "x", "a-or")).toEqual(["b-or", "a-or"])
  expect(names("", "b", "a")).toEqual(["b", "a"])
})
