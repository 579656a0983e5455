import { screen, waitFor, within } from "@testing-library/react"
import i18next from "i18next"
import { beforeEach, expect, it, vi } from "vitest"
import { reader } from "@/testing/factories"
import { errorOf, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { TransactionsPage } from "./transactions-page"

const BASE = "/api/v1/clusters/local/transactions"
const ago = new Date(Date.now() - 120_000).toISOString()
const line = {
  transaction_id: "t1.A", message_id: "AC1100010000", topic: "orders", group: "payments", broker: "broker-a", state: "open", keys: ["A17"], tag: "paid",
  born_at: ago, born_host: "10.0.0.1:5", prepared_at: ago, checks: 2, checked_at: ago, next_check_at: null, producer_connected: false, body_bytes: 9,
}
const rows = (others: object = {}) => ({ items: [line], next_cursor: null, missing: [], partial: [], ...others })
const body = { encoding: "json", data: { id: 1 }, text: '{"id":1}' }
const page = (at = "/", me?: ReturnType<typeof reader>) => renderApp(<TransactionsPage cluster="local" />, me ? { at, me } : { at })

beforeEach(() => {
  answer(`GET ${BASE}`, rows())
  answer(`GET ${BASE}/t1.A`, { ...line, body, properties: {}, hidden: null })
})

it("lists what is open, and says that nobody is there to be asked", async () => {
  page()
  expect(await screen.findByText("A17")).toBeTruthy()
  expect(screen.getByText("when a producer comes")).toBeTruthy()
  expect(screen.getByText("none connected")).toBeTruthy()
  expect(requests(`GET ${BASE}`)[0]?.query.get("state")).toBe("open")
})

it("says of a revived transaction that its preparation and its checks are unknown", async () => {
  answer(`GET ${BASE}`, rows({ items: [{ ...line, prepared_at: null, checks: null }] }))
  answer(`GET ${BASE}/t1.A`, { ...line, prepared_at: null, checks: null, body, properties: {}, hidden: null })
  page("/?open=t1.A")
  expect(await screen.findByText("AC1100010000")).toBeTruthy()
  await waitFor(() => expect(screen.getAllByRole("img", { name: /^Not known/, hidden: true })).toHaveLength(5))
})

it("names the brokers that showed only a part, or did not answer", async () => {
  answer(`GET ${BASE}`, rows({ items: [], missing: [{ broker: "broker-b", reason: "no answer", since: null }], partial: ["broker-c"] }))
  page()
  expect(await screen.findByText(/broker-b is not included/)).toBeTruthy()
  expect(screen.getByText(/broker-c did not show everything/)).toBeTruthy()
})

it("filters by topic and producer group, in the address", async () => {
  const { user, address } = page()
  await user.type(await screen.findByRole("textbox", { name: "Producer group" }), "billing")
  await user.click(screen.getByRole("button", { name: "Find" }))
  expect(address()).toMatch(/group=billing/)
  await vi.waitFor(() => expect(requests(`GET ${BASE}`).at(-1)?.query.get("group")).toBe("billing"))
})

it("finds a transaction by the key of its message, in the address", async () => {
  const { user, address } = page("/?key=P-1")
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Find by key or message ID" })
  expect(field.value).toBe("P-1")
  expect(requests(`GET ${BASE}`)[0]?.query.get("key")).toBe("P-1")
  await user.type(field, "7 {Enter}")
  expect(address()).toMatch(/key=P-17$/)
  await vi.waitFor(() => expect(requests(`GET ${BASE}`).at(-1)?.query.get("key")).toBe("P-17"))
})

it("says of a filter that finds nothing what it was, and takes it away", async () => {
  answer(`GET ${BASE}`, rows({ items: [] }))
  const { user, address } = page("/?group=nobody")
  expect(await screen.findByText("No open transaction fits the filter")).toBeTruthy()
  expect(screen.getByText("Producer group nobody")).toBeTruthy()
  await user.click(screen.getByRole("button", { name: "Clear the filter" }))
  expect(await screen.findByText("No transaction is open")).toBeTruthy()
  expect(address()).not.toContain("nobody")
  expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Producer group" }).value).toBe("")
})

it("does not call nothing open what one broker did not show", async () => {
  answer(`GET ${BASE}`, rows({ items: [], partial: ["broker-c"] }))
  page()
  expect(await screen.findByText("None on the brokers that showed all of theirs")).toBeTruthy()
})

it("does not say that nothing waits while there are older ones to read", async () => {
  answer(`GET ${BASE}`, rows({ items: [], next_cursor: "older" }))
  page("/?tab=given_up")
  expect(await screen.findByText("None among the newest; there are older ones")).toBeTruthy()
})

it("tells in the drawer too that a check waits for a producer, and leaves by words of its own", async () => {
  const { user } = page("/?open=t1.A")
  await user.click(await screen.findByRole("button", { name: "Commit" }))
  expect(screen.getAllByText("when a producer comes")).toHaveLength(2)
  expect(within(await screen.findByRole("dialog")).getByRole("button", { name: "Leave it as it is" })).toBeTruthy()
})

it("has key, producer group, checks and state below the topic, for tables without room for them", async () => {
  answer(`GET ${BASE}`, rows({ items: [{ ...line, state: "given_up" }] }))
  page("/?tab=given_up")
  expect(await screen.findByText("A17 · payments")).toBeTruthy()
  expect(screen.getByText("Checks 2 · given up")).toBeTruthy()
})

it("commits with a reason after a question", async () => {
  answer(`POST ${BASE}/t1.A:commit`, { transaction_id: "t1.A", message_id: "AC1100010000", topic: "orders", group: "payments", decision: "committed" })
  const { user } = page("/?open=t1.A")
  await user.click(await screen.findByRole("button", { name: "Commit" }))
  const dialog = await screen.findByRole("dialog")
  expect(within(dialog).getByText(/delivered to orders now, whatever payments thinks/)).toBeTruthy()
  await user.type(within(dialog).getByRole("textbox", { name: "Reason" }), "paid")
  await user.click(within(dialog).getByRole("button", { name: "Commit" }))
  expect(await screen.findByText("The transaction is committed")).toBeTruthy()
  expect(requests(`POST ${BASE}/t1.A:commit`)[0]?.body).toEqual({ reason: "paid" })
})

it("does not call undecided what was decided otherwise", async () => {
  refuse(`POST ${BASE}/t1.A:rollback`, 409, "TRANSACTION_DECIDED", "The transaction of message AC1100010000 was committed before.")
  const { user } = page("/?open=t1.A")
  await user.click(await screen.findByRole("button", { name: "Roll back" }))
  await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Roll back" }))
  expect(await screen.findByText("The decision was not taken")).toBeTruthy()
  expect(screen.getByText(/was committed before/)).toBeTruthy()
})

it("says of a truncated link what the server says of it", async () => {
  refuse(`GET ${BASE}/t1.broken`, 404, "TRANSACTION_NOT_FOUND", "The signature of the id is wrong: it was changed or truncated.")
  page("/?open=t1.broken")
  expect(await screen.findByText("The signature of the id is wrong: it was changed or truncated.")).toBeTruthy()
  expect(screen.getByText("The transaction was not found")).toBeTruthy()
})

it("teaches what given up means, and shows which those are", async () => {
  answer(`GET ${BASE}`, rows({ items: [{ ...line, state: "given_up" }] }))
  const { user } = page("/?tab=given_up")
  expect(await screen.findByText("given up")).toBeTruthy()
  expect(requests(`GET ${BASE}`)[0]?.query.get("state")).toBe("given_up")
  answer(`GET ${BASE}`, rows({ items: [] }))
  await user.click(screen.getByRole("tab", { name: "Open" }))
  expect(await screen.findByText("No transaction is open")).toBeTruthy()
})

it("leaves the buttons to those who may produce", async () => {
  page("/?open=t1.A", reader())
  expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Commit" })).disabled).toBe(true)
})

const HOOKS = "/api/v1/clusters/local/transaction-hooks"
const outcome = { at: ago, decision: "unknown", failure: "127.0.0.1 answered 500", status: 500, took_ms: 3, message_id: "AC1100010000", topic: "orders", checks: 2 }
const hook = {
  id: "h1", group: "payments", enabled: true, target: "https://example.org/…", has_secret: true, former_secret_until: null, created_at: ago,
  last: { ...outcome, decision: "commit", failure: null, status: 200 }, last_failure: outcome, etag: '"e"',
}

it("shows what hooks answered last, and why one decided nothing", async () => {
  answer(`GET ${HOOKS}`, { items: [hook], next_cursor: null, prev_cursor: null, total: null })
  page("/?tab=hooks")
  expect(await screen.findByText("https://example.org/…")).toBeTruthy()
  expect(screen.getByText("commit")).toBeTruthy()
  expect(screen.getByText(/127.0.0.1 answered 500/)).toBeTruthy()
})

it("tells a failure once where the last check decided nothing, in the language of the reader", async () => {
  answer(`GET ${HOOKS}`, { items: [{ ...hook, last: outcome }], next_cursor: null, prev_cursor: null, total: null })
  await i18next.changeLanguage("zh")
  page("/?tab=hooks")
  expect(await screen.findAllByText("127.0.0.1 返回 500")).toHaveLength(1)
  expect(screen.getByText("即上次回查")).toBeTruthy()
  await i18next.changeLanguage("en")
})

it("adds a hook, and changes only what was filled in", async () => {
  answer(`GET ${HOOKS}`, { items: [hook], next_cursor: null, prev_cursor: null, total: null })
  answer(`POST ${HOOKS}`, hook)
  answer(`PATCH ${HOOKS}/h1`, hook)
  const { user } = page("/?tab=hooks&new=hook")
  await user.type(await screen.findByRole("textbox", { name: "Producer group" }), "payments")
  await user.type(screen.getByRole("textbox", { name: "URL" }), "https://example.org/checks")
  await user.click(screen.getAllByRole("button", { name: "Add webhook" }).at(-1) as HTMLElement)
  await vi.waitFor(() => expect(requests(`POST ${HOOKS}`)[0]?.body).toEqual({ group: "payments", url: "https://example.org/checks", secret: "" }))
  await user.click(await screen.findByRole("button", { name: "Change" }))
  await user.type(await screen.findByRole("textbox", { name: "URL" }), "https://example.org/new")
  await user.click(screen.getAllByRole("button", { name: "Change" }).at(-1) as HTMLElement)
  await vi.waitFor(() => expect(requests(`PATCH ${HOOKS}/h1`)[0]?.body).toEqual({ url: "https://example.org/new" }))
})

it("says at the field which URL the API does not take, and which group no name fits", async () => {
  answer(`GET ${HOOKS}`, { items: [], next_cursor: null, prev_cursor: null, total: null })
  answer("GET /api/v1/naming", { topic: { pattern: "^[a-z]+$", max_length: 127 }, group: { pattern: "^[A-Za-z0-9_-]{1,120}$", max_length: 120 } })
  refuseFields(`POST ${HOOKS}`, { url: "127.0.0.1 is at 127.0.0.1, which is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it" })
  await i18next.changeLanguage("zh")
  const { user } = page("/?tab=hooks&new=hook")
  const group = await screen.findByRole("textbox", { name: "生产者组" })
  await user.type(group, "a b*")
  await waitFor(() => expect(errorOf(group)).toContain("120"))
  await retype(user, group, "payments")
  const url = screen.getByRole("textbox", { name: "URL" })
  await user.type(url, "http://127.0.0.1:9/x")
  await user.click(screen.getAllByRole("button", { name: "添加 Webhook" }).at(-1) as HTMLElement)
  await waitFor(() => expect(errorOf(url)).toContain("不是公网地址"))
  await i18next.changeLanguage("en")
})
