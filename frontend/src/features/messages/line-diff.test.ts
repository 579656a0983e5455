import { expect, it } from "vitest"
import { lineDiff } from "./line-diff"

const marked = (a: string, b: string) => lineDiff(a.split(""), b.split(""))?.map(({ a, b, isSame }) => `${a ?? "·"}${isSame ? "=" : "≠"}${b ?? "·"}`)

it("sets equal lines beside each other, and what differs side by side", () => {
  expect(marked("abcd", "abxd")).toEqual(["a=a", "b=b", "c≠x", "d=d"])
  expect(marked("abc", "abbc")).toEqual(["a=a", "b=b", "·≠b", "c=c"])
  expect(marked("axbyc", "abc")).toEqual(["a=a", "x≠·", "b=b", "y≠·", "c=c"])
  expect(marked("ab", "xyz")).toEqual(["a≠x", "b≠y", "·≠z"])
})

it("does not begin a comparison that would take too long", () => {
  const [a, b] = ["a", "b"].map((letter) => Array.from({ length: 3_000 }, (_, n) => `${letter}${n}`))
  expect(lineDiff(a ?? [], b ?? [])).toBeNull()
})
