import { describe, expect, it } from "vitest"
import { ExactNumber, ExactObject, exactJson } from "./exact-json"

describe("JSON read to the letter", () => {
  it("keeps numbers as they are written, and members of the same name", () => {
    const found = exactJson('{"id": 12345678901234567890123, "price": 1.10, "a": 1, "a": [true, null, "x\\n"]}')
    expect(found).toEqual(
      new ExactObject([
        ["id", new ExactNumber("12345678901234567890123")],
        ["price", new ExactNumber("1.10")],
        ["a", new ExactNumber("1")],
        ["a", [true, null, "x\n"]],
      ]),
    )
  })

  it.each(["[]", "{}", "[[],{}]", '"a"', "-1e+3"])("reads %s", (text) => {
    expect(exactJson(text)).toBeDefined()
  })

  it.each(["", "[", '{"a"', "[1] x", "nope", "[".repeat(2_000) + "]".repeat(2_000)])("says of what is none that it is none", (text) => {
    expect(exactJson(text)).toBeUndefined()
  })
})
