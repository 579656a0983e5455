import { describe, expect, it } from "vitest"
import { bodyOfFile, EMPTY_DRAFT, messagesOf, MOST_MESSAGES, problemsOf, requestText } from "./produce-draft"

const parsed = (draft: Partial<typeof EMPTY_DRAFT>): unknown[] => messagesOf({ ...EMPTY_DRAFT, ...draft }).map((text) => JSON.parse(text) as unknown)

describe("a typed message", () => {
  it("leaves out what was left empty", () => {
    expect(parsed({ body: '{"a":1}' })).toEqual([{ body: { encoding: "json", data: { a: 1 } } }])
  })

  it("splits keys, reads properties line by line, and keeps an = in a value", () => {
    const draft = { keys: "A17, cust-9", tag: " paid ", properties: "source=web\nquery=a=b\n", delayMs: "60000", orderingKey: "cust 9" }
    expect(parsed(draft)[0]).toMatchObject({
      keys: ["A17", "cust-9"],
      tag: "paid",
      ordering_key: "cust 9",
      properties: { source: "web", query: "a=b" },
      delay_ms: 60_000,
    })
  })

  it("is delivered at the time that was chosen, and waits until that is one", () => {
    const draft = { ...EMPTY_DRAFT, delayMs: "at", deliverAt: "2099-01-01T08:00:00.000Z" }
    expect(parsed(draft)[0]).toMatchObject({ deliver_at: "2099-01-01T08:00:00.000Z" })
    expect(problemsOf(draft)).toEqual({})
    for (const deliverAt of [undefined, "tomorrow"]) expect(problemsOf({ ...draft, deliverAt })).toEqual({ deliverAt: true })
  })

  it("sends the digits of JSON as they were typed", () => {
    const body = '{"price":1.10,"big":12345678901234567890123}'
    expect(requestText(messagesOf({ ...EMPTY_DRAFT, body }))).toBe(`{"messages":[{"body":{"encoding":"json","data":${body}}}]}`)
  })

  it("names what is wrong before anything is sent", () => {
    expect(problemsOf({ ...EMPTY_DRAFT, body: "{" }).body).toEqual({ kind: "json", line: null })
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "base64", body: "not base64!" }).body).toEqual({ kind: "base64", line: null })
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "hex", body: "0af" }).body).toEqual({ kind: "hex", line: null })
    expect(problemsOf({ ...EMPTY_DRAFT, properties: "a=1\nnothing" })).toEqual({ properties: 2 })
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "text", body: "{" })).toEqual({})
    expect(problemsOf({ ...EMPTY_DRAFT, encoding: "text", body: " " }).body).toEqual({ kind: "empty", line: null })
  })

  it("turns hex into bytes", () => {
    expect(parsed({ encoding: "hex", body: "68 69\n0A" })).toEqual([{ body: { encoding: "base64", data: "aGkK" } }])
  })
})

describe("many messages", () => {
  it("makes one of each line, and names the line that is wrong", () => {
    const draft = { sends: "lines" as const, keys: "K", body: '{"n":1}\r\n\n{"n":2}\n' }
    expect(parsed(draft)).toEqual([1, 2].map((n) => ({ keys: ["K"], body: { encoding: "json", data: { n } } })))
    expect(problemsOf({ ...EMPTY_DRAFT, ...draft, body: "1\nx" }).body).toEqual({ kind: "json", line: 2 })
  })

  it("counts in a burst", () => {
    expect(parsed({ sends: "burst", count: 3, body: '{"n":{{n}}}' })).toEqual([1, 2, 3].map((n) => ({ body: { encoding: "json", data: { n } } })))
  })

  it("has a limit, and says so", () => {
    const body = "1\n".repeat(MOST_MESSAGES + 1)
    expect(problemsOf({ ...EMPTY_DRAFT, sends: "lines", body }).body).toEqual({ kind: "tooMany", line: null })
  })
})

describe("a file", () => {
  it("is text where it is UTF-8, and otherwise base64", () => {
    expect(bodyOfFile(new TextEncoder().encode('{"a":1}'))).toEqual({ encoding: "json", body: '{"a":1}' })
    expect(bodyOfFile(new TextEncoder().encode("你好"))).toEqual({ encoding: "text", body: "你好" })
    expect(bodyOfFile(new Uint8Array([0xff, 0x00]))).toEqual({ encoding: "base64", body: "/wA=" })
  })
})
