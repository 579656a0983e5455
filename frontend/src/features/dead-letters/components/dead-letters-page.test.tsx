import { screen, waitFor } from "@testing-library/react"
import { beforeEach, expect, it } from "vitest"
import { Outage } from "@/hooks/use-outage"
import { admin, job, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, holdAnswer, refuse, requests } from "@/testing/server"
import { DeadLettersPage } from "./dead-letters-page"

const BASE = "/api/v1/clusters/local/dead-letters"
const AT = "2026-11-21T06:00:00Z"
const cause = (reason: string | null, count: number) => ({ reason, read_from: reason === null ? "none" : "reason", count, topics: ["orders"], first_at: AT, last_at: AT, last_message_id: "M" })
const group = { name: "billing", messages: 12, first_at: AT, last_at: AT, topics: ["orders"], top_cause: cause("db down", 8), causes: 2, read: 12, retries_waiting: 3, unknown_reason: null }
const preview = (others: object = {}) => ({
  messages: 8, bytes: 800, causes: 1, failing: 0, skipped: 0, takes_ms: 40, topics: [{ topic: "%RETRY%billing", messages: 8, refused: null }],
  groups: [{ name: "billing", topics: ["%RETRY%billing"], failed: true }], hidden_groups: 0, needs_allow_live_target: false, warning: null,
  first: [], last: [], read: 12, stored: 12, complete: true, missing: [], ...others,
})
const redrive = (others: object = {}) =>
  job("r1", { type: "redrive", name: "Redrive dead letters of billing", state: "partial", request: { type: "redrive", group: "billing" }, artefacts: [{ name: "outcomes.csv", kind: "csv", bytes: 1 }], ...others })
const outcome = (word: string, others: object) => ({
  at: AT, outcome: word, message_id: `M-${word}`, keys: ["K-1"], cause: null, broker: "broker-a", queue_id: 0, offset: word.length, topic: "orders",
  target_broker: "broker-a", target_queue_id: 3, target_offset: 20_144, copy_id: "C-1", why: null, original: "kept", ...others,
})
const sent = (): unknown[] => requests(`POST ${BASE}/billing:redrive`).map(({ body }) => body)
const page = (at = "/", me?: ReturnType<typeof reader>) =>
  renderApp(<DeadLettersPage cluster="local" topics={["orders"]} drawer={(topic, id) => <output>{`${topic} ${id}`}</output>} />, me ? { at, me } : { at })

beforeEach(() => {
  answer(`GET ${BASE}`, { items: [group], next_cursor: null, total: 1, messages: 12, groups: 38 })
  answer(`GET ${BASE}/billing/causes`, { items: [cause("db down", 8), cause(null, 4)], read: 12, stored: 12, complete: true, missing: [] })
  answer("GET /api/v1/jobs", { items: [], next_cursor: null, total: null })
  answer(`POST ${BASE}/billing:redrive`, preview())
  answer("GET /api/v1/clusters/local/groups/billing", { clients: 1 })
})

it("redrives what is ticked, after a dry run that says what it would do", async () => {
  const { user, address } = page()
  expect(await screen.findByText("1 of 38 groups has some")).toBeTruthy()
  expect(screen.getByText("Nothing is picked")).toBeTruthy()
  await user.click(await screen.findByRole("checkbox", { name: "Pick db down of billing" }))
  expect(await screen.findByText("Dry run: 8 can be redriven")).toBeTruthy()
  expect(screen.getByText("to send, of 12 dead letters; 1 cause")).toBeTruthy()
  expect(sent()).toEqual([{ filter: { causes: ["db down"] }, target: { to: "failed_group" }, limits: { messages_per_second: 200 }, dry_run: true }])
  expect(address()).toContain("pick=")

  answer(`POST ${BASE}/billing:redrive`, redrive({ state: "queued" }), 202)
  await user.click(screen.getByRole("button", { name: "Redrive 8 messages" }))
  expect(await screen.findByText("Redrive of 1 group started")).toBeTruthy()
  expect(sent()).toContainEqual({ filter: { causes: ["db down"] }, target: { to: "failed_group" }, limits: { messages_per_second: 200 } })
  expect(await screen.findByText("Nothing is picked")).toBeTruthy()
})

it("sends to the original topic, and says why, where no native client of the group is connected", async () => {
  answer("GET /api/v1/clusters/local/groups/billing", { clients: 0 })
  const { user } = page('/?pick={"billing":"all"}')
  expect(await screen.findByText(/No native client of the group is connected/)).toBeTruthy()
  await screen.findByText("Dry run: 8 can be redriven")
  expect(sent()).toEqual([{ filter: {}, target: { to: "origin" }, limits: { messages_per_second: 200 }, dry_run: true }])
  answer(`POST ${BASE}/billing:redrive`, preview({ warning: "Nobody gets them." }))
  await user.click(screen.getByRole("radio", { name: "Failed group only" }))
  expect(await screen.findByText("Nobody gets them.")).toBeTruthy()
  expect(sent().at(-1)).toMatchObject({ target: { to: "failed_group" } })
})

it("says of the size that it is that of the bodies alone", async () => {
  page('/?pick={"billing":"all"}')
  expect(await screen.findByText("800 B of bodies; properties and where each came from are added")).toBeTruthy()
})

it("needs a yes for other groups that will see the copies", async () => {
  const groups = [{ name: "billing", topics: ["orders"], failed: true }, { name: "shipping", topics: ["orders"], failed: false }]
  answer(`POST ${BASE}/billing:redrive`, preview({ groups, hidden_groups: 1, needs_allow_live_target: true }))
  const { user } = page('/?to=origin&pick={"billing":"all"}')
  const button = await screen.findByRole("button", { name: "Redrive 8 messages" })
  expect((button as HTMLButtonElement).disabled).toBe(true)
  expect(button.title).toBe("Confirm the effects first")
  await user.click(screen.getByRole("checkbox", { name: "shipping, 1 group that you may not read may process them again" }))
  expect(((await screen.findByRole("button", { name: "Redrive 8 messages" })) as HTMLButtonElement).disabled).toBe(false)
  expect(sent().at(-1)).toMatchObject({ target: { to: "origin" }, allow_live_target: true })
})

it("says what became of each message of the last redrive, and offers all of them as a file", async () => {
  answer("GET /api/v1/jobs", { items: [redrive()], next_cursor: null, total: null })
  const items = [outcome("failed", { why: "topic is read-only" }), outcome("skipped", {}), outcome("unknown", { why: "not known whether stored" }), outcome("redriven", { original: "waiting" })]
  answer(`GET ${BASE}/billing/outcomes`, { items, next_cursor: null, total: 4, counts: { redriven: 1, failed: 1, skipped: 1, unknown: 1 } })
  page()
  expect(await screen.findByText("topic is read-only")).toBeTruthy()
  for (const words of ["not known whether stored", "orders 3 / 20,144", "sent before, C-1", "kept, waiting"]) expect(screen.getByText(words)).toBeTruthy()
  expect(screen.getByRole("link", { name: "CSV" }).getAttribute("href")).toBe("/api/v1/jobs/r1/artefacts/outcomes.csv")
})

it("shows how far a redrive is, and stops it", async () => {
  const counters = { planned: 40, read: 12, matched: 12, written: 8, filtered: 0, damaged: 0, failed: 1, skipped: 1, bytes: 1 }
  answer("GET /api/v1/jobs", { items: [redrive({ state: "running", counters, artefacts: [] })], next_cursor: null, total: null })
  answer(`GET ${BASE}/billing/outcomes`, { items: [], next_cursor: null, total: 0, counts: {} })
  answer("POST /api/v1/jobs/r1:cancel", redrive({ state: "running", cancel_requested: true }), 202)
  const { user } = page()
  expect(await screen.findByText("12 of 40")).toBeTruthy()
  await user.click(screen.getByRole("button", { name: "Cancel" }))
  expect(await screen.findByText(/is being cancelled/)).toBeTruthy()
  expect(requests("POST /api/v1/jobs/r1:cancel")).toHaveLength(1)
})

it("asks for no dry run without the right to redrive", async () => {
  page('/?pick={"billing":"all"}', reader())
  expect(((await screen.findByRole("button", { name: "Redrive" })) as HTMLButtonElement).disabled).toBe(true)
  expect(screen.getByText("Needs the right: redrive")).toBeTruthy()
  expect(screen.queryByText("Dry run again")).toBeNull()
  expect(sent()).toEqual([])
})

it("sends to the failed group alone without the right to read bodies", async () => {
  answer("GET /api/v1/clusters/local/groups/billing", { clients: 0 })
  page('/?pick={"billing":"all"}', admin({ rights: ["read", "redrive", "jobs"] }))
  expect(await screen.findByText(/Other destinations hand on the bodies/)).toBeTruthy()
  expect(["Failed group only", "Original topic", "Other"].map((name) => (screen.getByRole("radio", { name }) as HTMLInputElement).disabled)).toEqual([false, true, true])
  await waitFor(() => expect(sent()).not.toEqual([]))
  expect(sent()[0]).toMatchObject({ target: { to: "failed_group" } })
})

it("does not wait for causes and a dry run that no broker can tell", async () => {
  holdAnswer(`POST ${BASE}/billing:redrive`, new Promise(() => undefined))
  renderApp(
    <Outage value="broker-b is silent">
      <DeadLettersPage cluster="local" topics={[]} drawer={() => null} />
    </Outage>,
    { at: '/?pick={"billing":"all"}' },
  )
  expect(await screen.findByText("broker-b is silent")).toBeTruthy()
})

it("says that a count is not known, and why a dry run failed", async () => {
  answer(`GET ${BASE}`, { items: [{ ...group, messages: null, unknown_reason: "broker-b is silent" }], next_cursor: null, total: 1, messages: null, groups: null })
  refuse(`POST ${BASE}/billing:redrive`, 503, "BROKER_UNREACHABLE", "broker-b is silent")
  page('/?pick={"billing":"all"}')
  expect(await screen.findByText("The dry run failed")).toBeTruthy()
  expect(screen.getAllByLabelText(/broker-b is silent|unknown/i).length).toBeGreaterThan(0)
})

it("says where a slave was read because its master is away", async () => {
  const slave = { broker: "broker-a", broker_id: 1, reason: "no master of broker 'broker-a' is known" }
  answer(`GET ${BASE}`, { items: [{ ...group, messages: null, from_slaves: [slave] }], next_cursor: null, total: 1, messages: null, groups: 38 })
  page()
  expect(await screen.findByText(/^The newest messages of broker-a may be missing: slave 1 was read/)).toBeTruthy()
})

it("shows the messages of a cause, and one of them beside the page", async () => {
  const letter = { message_id: "M1", topic: "%DLQ%billing", queue_id: 0, queue_offset: 5, broker: "broker-a", keys: ["K-9"], tag: null, stored_at: AT, size_bytes: 1, reconsume_times: 16, damage: null, offset_id: "AB", origin_topic: "orders", origin_message_id: null, cause: "db down", cause_read_from: "reason" }
  answer(`GET ${BASE}/billing/messages`, { items: [letter], next_cursor: null, read: 12, stored: 12, missing: [] })
  const { user } = page('/?view=message&pick={"billing":["db down"]}')
  expect((await screen.findByRole("link", { name: "Export billing" })).getAttribute("href")).toBe(`${BASE}/billing/export?cause=db+down`)
  await user.click(await screen.findByText("K-9"))
  expect(await screen.findByText("%DLQ%billing M1")).toBeTruthy()
  expect(requests(`GET ${BASE}/billing/messages`).at(-1)?.query.get("cause")).toBe("db down")
})

it("counts the causes in its figures as the table does", async () => {
  answer(`GET ${BASE}`, { items: [{ ...group, messages: 157, top_cause: cause("db down", 100), causes: 1, read: 100 }], next_cursor: null, total: 1, messages: 157, groups: 38 })
  answer(`GET ${BASE}/billing/causes`, { items: [cause("db down", 150), cause(null, 7)], read: 157, stored: 157, complete: true, missing: [] })
  page()
  expect((await screen.findAllByText("150")).length).toBeGreaterThan(1)
  expect(document.body.textContent).not.toMatch(/100\+|[12]\+/)
})
