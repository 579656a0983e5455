import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { KeyLookup } from "@/lib/api-types"
import { messageSummary, search } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { MessagesPage } from "./messages-page"

const KEYS = "POST /api/v1/clusters/local/messages:search"
const SCAN = "POST /api/v1/clusters/local/topics/orders/messages:scan"
const show = (at: string) => renderApp(<MessagesPage cluster="local" topics={["orders", "payments"]} />, { at })
const lookup = (overrides: Partial<KeyLookup> = {}): KeyLookup => ({
  verdict: "match",
  complete: true,
  found: [{ key: "A17", items: [messageSummary("AC11")], has_more: false }],
  missing: ["A18"],
  partial: [],
  missing_brokers: [],
  from_slaves: [],
  searched: search().searched,
  ...overrides,
})
const scanned = { read: 320, matched: 1, damaged: 0, reached: "2026-11-21T06:00:00.000Z", elapsed_ms: 500 }
const stream = (...lines: object[]) => ({ text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") })
const match = { type: "match", message: messageSummary("AC11") }
const end = { type: "end", end: "end", next_cursor: null, complete: true, missing: [], scanned }

describe("many keys", () => {
  it("are looked up at once, each once, in all topics when none is chosen", async () => {
    answer(KEYS, lookup())
    const { user } = show("/messages?mode=keys")
    await user.type(await screen.findByLabelText("Keys or IDs, separated by blanks"), "A17, A18 A17{Enter}")
    expect(await screen.findByText("1 of 2 keys found")).toBeDefined()
    expect(requests(KEYS)[0]?.body).toMatchObject({ topic: null, keys: ["A17", "A18"] })
    expect(screen.getByText("A18")).toBeDefined()
  })

  it("of which one has more messages are never called complete", async () => {
    answer(KEYS, lookup({ found: [{ key: "A17", items: [messageSummary("AC11")], has_more: true }], missing: [] }))
    show("/messages?mode=keys&keys=A17")
    expect((await screen.findByText(/Have older messages too/)).textContent).toBe("Have older messages too: A17")
    expect(screen.queryByText("complete")).toBeNull()
  })

  it("are said to be read from a slave where a master is away", async () => {
    answer(KEYS, lookup({ complete: false, from_slaves: [{ broker: "broker-a", broker_id: 2, reason: "broker-a at 10.0.0.1:10911 refused the connection" }] }))
    show("/messages?mode=keys&keys=A17")
    expect(await screen.findByText(/^The newest messages of broker-a may be missing: slave 2 was read, because .* refused the connection/)).toBeDefined()
  })

  it("that were not looked up everywhere are never called missing", async () => {
    answer(KEYS, lookup({ verdict: "partial", complete: false, found: [], missing: [], partial: [{ key: "A17", reason: "broker-b refused" }] }))
    show("/messages?mode=keys&keys=A17")
    expect(await screen.findByText("partial")).toBeDefined()
    expect(screen.getByText(/Not looked up everywhere/)).toBeDefined()
    expect(screen.queryByText(/Without a message/)).toBeNull()
  })
})

describe("a search of contents", () => {
  it("sends the conditions as they are typed and shows what it read", async () => {
    answer(SCAN, () => stream(match, { type: "progress", scanned }, end))
    const { user } = show("/messages?mode=content&topic=orders&span=all")
    await user.type(await screen.findByLabelText("Conditions, such as $.amount >= 100"), "$.amount >= 1.10{Enter}")
    expect(await screen.findByText("1 match")).toBeDefined()
    expect(await screen.findByText("complete")).toBeDefined()
    expect(screen.getByText(/320 read, 640\/s/)).toBeDefined()
    await waitFor(() => expect(requests(SCAN).at(-1)?.body).toMatchObject({ fields: [{ path: "$.amount", operator: "ge", value: 1.1 }], limit: 500 }))
  })

  it("goes on from its cursor where a limit ended it, and keeps what was found", async () => {
    answer(SCAN, ({ body }: { body: { cursor?: string } }) =>
      body.cursor ? stream({ type: "match", message: messageSummary("AC12", { queue_offset: 1 }) }, end) : stream(match, { ...end, end: "limit", complete: false, next_cursor: "c1" }),
    )
    const { user } = show("/messages?mode=content&topic=orders&where=tag+%3D+paid&span=all")
    expect(await screen.findByText("enough matches, partial")).toBeDefined()
    await user.click(button("Go on"))
    expect(await screen.findByText("2 matches")).toBeDefined()
  })

  it("does not ask with a text that is no filter, and says what is wrong", async () => {
    show("/messages?mode=content&topic=orders&where=colour")
    expect((await screen.findByRole("alert")).textContent).toContain("Character 1")
    expect(button("Search").disabled).toBe(true)
    expect(requests(SCAN)).toHaveLength(0)
  })

  it("that breaks off or is refused is never called complete", async () => {
    answer(SCAN, () => stream(match, { type: "progress", scanned }))
    show("/messages?mode=content&topic=orders&span=all")
    expect(await screen.findByText("failed, partial")).toBeDefined()
    refuse(SCAN, 429, "RATE_LIMITED", "4 scans run")
  })
})
