import { screen, waitFor, within } from "@testing-library/react"
import i18next from "i18next"
import { beforeEach, expect, it, vi } from "vitest"
import { reader } from "@/testing/factories"
import { errorOf, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, holdAnswer, refuse, requests } from "@/testing/server"
import { ScheduledPage } from "./scheduled-page"

const BASE = "/api/v1/clusters/local/scheduled"
const HOUR_MS = 3_600_000
const soon = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS).toISOString()
const due = new Date(Date.now() + 5 * HOUR_MS).toISOString()
const line = { message_id: "AC1100010000", topic: "payments", queue_id: 1, broker: "broker-a", due_at: due, keys: ["P-1"], tag: "capture", stored_at: soon, born_at: soon, born_host: "10.0.0.1:5", body_bytes: 9 }
const summary = (others: object = {}) => ({
  waiting: 3, topics: [{ topic: "payments", waiting: 3, first_due_at: due, last_due_at: due }], buckets: [{ from: soon, topic: "payments", due: 3 }], bucket_ms: HOUR_MS, partial: false,
  last_day: { delivered: 7, late: 0, worst_late_ms: 81_246, recalled: 2, since: soon }, max_delay_ms: 259_200_000, missing: [], ...others,
})
const body = { encoding: "json", data: { id: 1 }, text: '{"id":1}' }
const page = (at = "/", me?: ReturnType<typeof reader>) => renderApp(<ScheduledPage cluster="local" />, me ? { at, me } : { at })

beforeEach(() => {
  answer(`GET ${BASE}`, { items: [line], next_cursor: null, missing: [] })
  answer(`GET ${BASE}/summary`, summary())
  answer(`GET ${BASE}/AC1100010000`, { ...line, body, properties: {}, hidden: null })
})

it("says how much waits, and lists what is due on the picked day", async () => {
  const { user, address } = page()
  expect(await screen.findByText("3 messages wait for their time")).toBeTruthy()
  expect(screen.getByText("of 7; worst 1 min 21 s after its time")).toBeTruthy()
  expect(await screen.findByText("P-1")).toBeTruthy()
  expect(screen.getByText(/all of payments/)).toBeTruthy()
  const days = within(screen.getByRole("list", { name: "The next 14 days" })).getAllByRole("button")
  expect(days).toHaveLength(14)
  await user.click(days[1] as HTMLElement)
  expect(address()).toMatch(/from=.*to=/)
  await vi.waitFor(() => expect(requests(`GET ${BASE}`).at(-1)?.query.get("to")).toBeTruthy())
})

it("finds a message by its key in all that waits, whatever day is picked", async () => {
  const { user, address } = page(`/?from=${soon}&to=${due}`)
  await screen.findByText("P-1")
  await user.type(screen.getByRole("textbox", { name: i18next.t("scheduled.find") }), " P-1 {Enter}")
  await vi.waitFor(() => expect(requests(`GET ${BASE}`).at(-1)?.query.get("key")).toBe("P-1"))
  expect(requests(`GET ${BASE}`).at(-1)?.query.get("from")).toBeNull()
  expect(address()).toContain("key=P-1")
})

it("says of a key that finds nothing what it was, and takes it away", async () => {
  answer(`GET ${BASE}`, { items: [], next_cursor: null, missing: [] })
  const { user, address } = page("/?key=D3")
  expect(await screen.findByText("No waiting message fits the filter")).toBeTruthy()
  expect(screen.getByText("Key D3")).toBeTruthy()
  await user.click(screen.getByRole("button", { name: "Clear the filter" }))
  expect(await screen.findByText("Nothing waits here")).toBeTruthy()
  expect(address()).not.toContain("D3")
})

it("does not say that nothing waits while a broker is silent", async () => {
  answer(`GET ${BASE}`, { items: [], next_cursor: null, missing: [{ broker: "broker-b", reason: "no answer", since: null }] })
  page()
  expect(await screen.findByText("Nothing waits on the brokers that answered")).toBeTruthy()
})

it("names the broker that no figure includes", async () => {
  answer(`GET ${BASE}/summary`, summary({ missing: [{ broker: "broker-b", reason: "no answer", since: null }] }))
  page()
  expect(await screen.findByText("without broker-b · 3 messages wait for their time")).toBeTruthy()
  expect(screen.getByText("without broker-b · of 7; worst 1 min 21 s after its time")).toBeTruthy()
  expect(screen.getByText(/without broker-b · .* all of payments/)).toBeTruthy()
  expect(screen.getByText("2+")).toBeTruthy()
  expect(screen.getAllByText("3+").length).toBeGreaterThan(0)
})

it("calls unknown what comes next while only a silent broker may have it", async () => {
  answer(`GET ${BASE}/summary`, summary({ waiting: 0, topics: [], buckets: [], missing: [{ broker: "broker-b", reason: "no answer", since: null }] }))
  page()
  expect(await screen.findAllByLabelText("Not known: no answer")).toHaveLength(2)
})

it("does not call punctual what was never delivered", async () => {
  answer(`GET ${BASE}/summary`, summary({ last_day: { delivered: 0, late: 0, worst_late_ms: 0, recalled: 0, since: soon } }))
  page()
  expect(await screen.findByText("nothing was delivered yet")).toBeTruthy()
  expect(screen.queryByText(/worst 0 ms/)).toBeNull()
})

it("shows bars while the broker is asked", async () => {
  let come: (body: unknown) => void = () => undefined
  const body = new Promise<unknown>((resolve) => {
    come = resolve
  })
  holdAnswer(`GET ${BASE}/summary`, body)
  page()
  await vi.waitFor(() => expect(document.querySelectorAll("[aria-busy] span").length).toBeGreaterThan(0))
  come(summary())
  expect(await screen.findByText("3 messages wait for their time")).toBeTruthy()
})

it("recalls a message after a question, and says when it came too late", async () => {
  const { user } = page("/?open=AC1100010000")
  await user.click(await screen.findByRole("button", { name: "Recall message" }))
  refuse(`DELETE ${BASE}/AC1100010000`, 409, "CONFLICT", "Message AC1100010000 was delivered before.")
  const dialog = within(await screen.findByRole("dialog"))
  expect(dialog.getByText(/never delivered to payments/)).toBeTruthy()
  await user.click(dialog.getByRole("button", { name: "Recall message" }))
  expect(await screen.findByText("The message is not recalled")).toBeTruthy()
  expect(requests(`DELETE ${BASE}/AC1100010000`)).toHaveLength(1)
})

it("says of a message that waits no more when it was delivered, or that it was not", async () => {
  refuse(`GET ${BASE}/AC1100010000`, 404, "NOT_FOUND", "It does not wait any more.")
  answer("GET /api/v1/clusters/local/messages/AC1100010000", { topic: "payments", message_id: "AC1100010000", broker: "broker-a", queue_id: 1, stored_at: "2026-01-02T03:04:05.000Z" })
  const { user } = page("/?zone=UTC")
  await user.click(await screen.findByText("P-1"))
  expect(await screen.findByText("Delivered at")).toBeTruthy()
  expect(screen.getByText(/03:04:05/)).toBeTruthy()
  expect(screen.getByRole("link", { name: "Open the delivered message" }).getAttribute("href")).toContain("topic=payments")
  expect(screen.queryByRole("alert")).toBeNull()
})

it("says of an id that never waited what the server says of it", async () => {
  refuse(`GET ${BASE}/NOPE`, 404, "NOT_FOUND", "No message 'NOPE' waits or waited for a delivery time.")
  page("/?open=NOPE")
  expect(await screen.findByText("No message 'NOPE' waits or waited for a delivery time.")).toBeTruthy()
})

it("says of a message that is nowhere that it was recalled or deleted", async () => {
  refuse(`GET ${BASE}/AC1100010000`, 404, "NOT_FOUND", "It does not wait any more.")
  refuse("GET /api/v1/clusters/local/messages/AC1100010000", 404, "MESSAGE_NOT_FOUND", "There is none.")
  page("/?open=AC1100010000&of=payments")
  expect(await screen.findByText("It is not in payments either; retention deletes what was delivered long ago.")).toBeTruthy()
})

it("gives a message another time", async () => {
  answer(`PATCH ${BASE}/AC1100010000`, { message_id: "AC1100010000", topic: "payments", broker: "broker-a", outcome: "rescheduled", due_at: "2099-01-02T03:04:05Z" })
  const { user } = page("/?open=AC1100010000&zone=UTC")
  const field = await screen.findByLabelText("New delivery time")
  await user.clear(field)
  await user.type(field, "2099-01-02 03:04:05")
  await user.click(screen.getByRole("button", { name: "Reschedule" }))
  expect(await screen.findByText("The message has a new time")).toBeTruthy()
  expect(requests(`PATCH ${BASE}/AC1100010000`)[0]?.body).toEqual({ deliver_at: "2099-01-02T03:04:05.000Z" })
})

it("says at the field by how much a time is too far, until another one is typed", async () => {
  await i18next.changeLanguage("zh")
  refuseFields(`PATCH ${BASE}/AC1100010000`, { deliver_at: "the broker at 10.0.0.1:10911 keeps messages for at most 3 days; this one would wait 4 days 2 h" })
  const { user } = page("/?open=AC1100010000&zone=UTC")
  const field = await screen.findByLabelText("新的投递时间")
  await retype(user, field, "2099-01-02 03:04:05")
  await user.click(screen.getByRole("button", { name: "改期" }))
  await waitFor(() => expect(errorOf(field)).toBe("Broker（10.0.0.1:10911）最多延迟 3 天，此消息需等待 4 天 2 小时。"))
  await user.type(field, "{Backspace}4")
  expect(errorOf(field)).toBeUndefined()
  await i18next.changeLanguage("en")
})

it("shows who may only read what is there, and not what needs a right", async () => {
  answer(`GET ${BASE}/AC1100010000`, { ...line, body: null, properties: null, hidden: "This needs the right 'bodies' on 'payments'." })
  page("/?open=AC1100010000", reader())
  expect(await screen.findByText("This needs the right 'bodies' on 'payments'.")).toBeTruthy()
  expect((screen.getByRole("button", { name: "Recall message" }) as HTMLButtonElement).disabled).toBe(true)
})

it("says why a cluster has nothing to show", async () => {
  refuse(`GET ${BASE}/summary`, 422, "NOT_SERVED_BY_BROKER", "127.0.0.1:10911: REQUEST_CODE_NOT_SUPPORTED")
  page()
  expect(await screen.findByText("What waits could not be counted")).toBeTruthy()
})
