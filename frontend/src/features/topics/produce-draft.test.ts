import { describe, expect, it } from "vitest"
import { EMPTY_DRAFT, messageOf, problemsOf } from "./produce-draft"

describe("a typed message", () => {
  it("leaves out what was left empty", () => {
    expect(messageOf({ ...EMPTY_DRAFT, body: '{"a":1}' })).toEqual({ body: { encoding: "json", data: { a: 1 } } })
  })

  it("splits keys, reads properties line by line, and keeps an = in a value", () => {
    const draft = { ...EMPTY_DRAFT, keys: "A17, cust-9", tag: " paid ", properties: "source=web\nquery=a=b\n", delayMs: "60000" }
    expect(messageOf(draft)).toMatchObject({
      keys: ["A17", "cust-9"],
      tag: "paid",
      properties: { source: "web", query: "a=b" },
      delay_ms: 60_000,
    })
  })

  it("names what is wrong before anything is sent", () => {
    expect(problemsOf({ ...EMPTY_DRAFT, body: "{" })).toEqual({ body: "json" })
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "base64", body: "not base64!" })).toEqual({ body: "base64" })
    expect(problemsOf({ ...EMPTY_DRAFT, properties: "a=1\nnothing" })).toEqual({ properties: 2 })
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "text", body: "{" })).toEqual({})
  })
})
