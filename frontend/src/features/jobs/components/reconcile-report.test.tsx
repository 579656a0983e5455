import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { job } from "@/testing/factories"
import { onPhone } from "@/testing/screen"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import type { Job } from "@/lib/api-types"
import type { Report, Sample } from "../report"
import { JobPage } from "./job-page"

const place = (queue_offset: number) => ({ queue_id: 1, queue_offset })
const sample = (key: string, known: Partial<Sample> = {}): Sample => ({
  class: "different", key, left: place(4), right: place(5), left_count: 1, right_count: 1, fields: ["body"],
  values: { body: { left: '{"amount":200,"currency":"EUR"}', right: '{"amount":207,"currency":"EUR"}' } },
  ...known,
})
const REPORT: Report = {
  tiles: { matched: 97, different: 2, missing_right: 1 },
  samples: [sample("P-1"), sample("P-2", { values: { body: { left: '{"a":1,"b":1}', right: '{"a":2,"b":2}' } } }), sample("P-3", { class: "missing_right", right: null, right_count: 0, fields: [], values: undefined as never })],
}

function show(report: Report = REPORT, at = "/jobs/j1", artefacts: Job["artefacts"] = []) {
  answer("GET /api/v1/jobs/j1", job("j1", { type: "reconcile", state: "succeeded", name: "a against b", artefacts, request: { type: "reconcile", left: { topic: "payments" }, right: { topic: "ledger" } }, finished_at: "2026-11-21T07:00:00Z" }))
  answer("GET /api/v1/jobs/j1/report", report)
  return renderApp(<JobPage id="j1" />, { at })
}

const FILES = "GET /api/v1/jobs/j1/artefacts"

const rowOf = async (key: string) => within((await screen.findByText(key)).closest("tr") as HTMLTableRowElement)

beforeEach(() => {
  answer("GET /api/v1/jobs/j1/log", { text: "", next_offset: 0 })
  answer(FILES, { items: [], keep_until: null, removed_at: null, removed_reason: null, hidden: null, log_hidden: null })
  answer("GET /api/v1/jobs/j1/progress", { samples: [], queues: [], saved_at: null })
})

describe("the report of a reconciliation", () => {
  it("says what differs: the field and by how much, or which fields", async () => {
    show()
    expect((await rowOf("P-1")).getByText("amount +7")).toBeTruthy()
    expect((await rowOf("P-2")).getByText("a, b")).toBeTruthy()
    expect((await rowOf("P-3")).getByText("left only")).toBeTruthy()
  })

  it("opens a difference with both sides beside each other, and walks to the next", async () => {
    const { user, address } = show()
    await user.click(await screen.findByText("P-1"))
    const drawer = within(await screen.findByRole("complementary", { name: "P-1" }))
    const line = within(drawer.getByText("amount").closest("tr") as HTMLElement)
    expect([line.getByText("200"), line.getByText("207")]).toHaveLength(2)
    expect(drawer.getByText("amount").closest("tr")?.dataset.differs).toBe("true")
    expect(drawer.getAllByText('"EUR"')[0]?.closest("tr")?.dataset.differs).toBeUndefined()
    expect(address()).toContain("sample=0")
    await user.keyboard("{ArrowDown}")
    expect(await screen.findByRole("complementary", { name: "P-2" })).toBeTruthy()
  })

  it("says on a phone, too, what differs and where, and opens a difference", async () => {
    onPhone()
    const { user, address } = show({ ...REPORT, queues: [{ side: "left", broker: "broker-a", queue_id: 1, rows: 98, classes: { different: 2 } }], tags: {} })
    const row = within((await screen.findByText("P-1")).closest("li") as HTMLElement)
    expect([row.getByText("amount +7"), row.getByText("1 / 4"), row.getByText("Different")]).toHaveLength(3)
    await user.click(screen.getByText("By queue"))
    expect(within(await screen.findByRole("list", { name: "By queue" })).getByText("of 98 messages")).toBeTruthy()
    await user.click(screen.getByText("Samples"))
    await user.click(await screen.findByText("P-1"))
    expect(address()).toContain("sample=0")
  })

  it("says which right shows the values that are hidden", async () => {
    show({ ...REPORT, samples: [sample("P-1", { values: undefined as never })], hidden: "bodies" }, "/jobs/j1?sample=0")
    expect(await screen.findByText(/The values are hidden/)).toBeTruthy()
  })

  it("says where the differences are: over time, by queue and by tag", async () => {
    const classes = { different: 2, missing_right: 1 }
    const { user, address } = show({
      ...REPORT,
      tiles: { ...REPORT.tiles, rows_left: 100, rows_right: 99 },
      buckets: { size_ms: 60_000, times: [0, 120_000], classes: { matched: [97, 0], different: [1, 1] }, without_time: { missing_right: 1 } },
      queues: [{ side: "left", broker: "broker-a", queue_id: 3, rows: 100, classes }],
      tags: { paid: classes, shipped: {} },
      is_csv_whole: false,
    })
    expect(await screen.findByText("read 100 left, 99 right")).toBeTruthy()
    expect(screen.getByRole("img", { name: "Differences over time" })).toBeTruthy()
    expect(screen.getByText("1 difference has no known time")).toBeTruthy()
    expect(screen.getByText(/holds the first million/)).toBeTruthy()
    await user.click(screen.getByText("By queue"))
    const queue = within(within(await screen.findByRole("group", { name: "By queue" })).getByText("broker-a 3").closest("tr") as HTMLElement)
    expect([queue.getByText("Left"), queue.getByText("100"), queue.getByText("2")]).toHaveLength(3)
    await user.click(screen.getByText("By tag"))
    expect(within(await screen.findByRole("group", { name: "By tag" })).getByText("shipped").closest("tr")?.textContent).toBe("shipped00")
    expect(address()).toContain("view=tags")
  })

  it("replays the missing after a dry run, and asks before groups get the copies", async () => {
    const MISSING = "POST /api/v1/jobs/j1:replay_missing"
    answer(MISSING, job("d1", { dry_run: true, state: "succeeded", finished_at: "2026-11-21T07:00:00Z" }), 202)
    answer("GET /api/v1/jobs/d1", job("d1", { dry_run: true, state: "succeeded", finished_at: "2026-11-21T07:00:00Z" }))
    answer("GET /api/v1/jobs/d1/report", { messages: 4, found: 4, damaged: 0, bytes: 400, first_at: null, last_at: null, estimated_ms: 1, estimated_by: "usual_rate", queues: [], first: [], last: [] })
    const { user } = show({ ...REPORT, missing_messages: 5 })
    await user.click(await screen.findByRole("button", { name: "Replay the missing 5" }))
    expect(await screen.findByText(/, to ledger in cluster local\.$/)).toBeTruthy()
    await user.click(await screen.findByRole("button", { name: "Dry run" }))
    const start = await screen.findByRole("button", { name: "Replay 4 messages" })
    expect(requests(MISSING)[0]?.body).toEqual({ dry_run: true })
    answer(MISSING, { status: 422, detail: "not valid", errors: [{ pointer: "#/allow_live_target", detail: "topic 'ledger' is read by books, which would get the copies; true allows this" }] }, 422)
    await user.click(start)
    expect((await screen.findByRole("note")).textContent).toContain("books")
    answer(MISSING, job("j2"), 202)
    await user.click(screen.getByLabelText("The groups of the target get the copies too"))
    // A form takes no second press for a moment after the first one, however soon it was refused.
    await waitFor(async () => {
      await user.click(screen.getByRole("button", { name: "Replay 4 messages" }))
      expect(requests(MISSING).at(-1)?.body).toEqual({ allow_live_target: true })
    })
  })

  it("asks for the topic where the missing are replayed to, when the right side is none", async () => {
    const MISSING = "POST /api/v1/jobs/j1:replay_missing"
    answer(MISSING, job("j2"), 202)
    const { user } = show({ ...REPORT, missing_messages: 5 }, "/jobs/j1?missing=replay")
    answer("GET /api/v1/jobs/j1", job("j1", { type: "reconcile", state: "succeeded", request: { type: "reconcile", left: { topic: "payments" }, right: { kind: "csv", path: "billed.csv" } }, finished_at: "2026-11-21T07:00:00Z" }))
    const start = await screen.findByRole<HTMLButtonElement>("button", { name: "Replay 5 messages" })
    expect(start.disabled).toBe(true)
    await user.type(screen.getByLabelText("Topic to write"), "again")
    await user.click(start)
    await waitFor(() => expect(requests(MISSING)[0]?.body).toEqual({ target: { topic: "again" } }))
  })

  it("has its files at its head", async () => {
    answer("GET /api/v1/jobs/j1/report", REPORT)
    show(REPORT, "/jobs/j1", [{ name: "differences.csv", kind: "csv", bytes: 10 }])
    expect((await screen.findByRole("link", { name: "CSV" })).getAttribute("href")).toBe("/api/v1/jobs/j1/artefacts/differences.csv")
    expect(screen.queryByRole("link", { name: "Parquet" })).toBeNull()
  })

  it("offers none of its files to one who may not download them", async () => {
    const files = [{ name: "differences.csv", kind: "csv", bytes: 10, media_type: "text/csv" }]
    answer(FILES, { items: files, keep_until: null, removed_at: null, removed_reason: null, hidden: "bodies", log_hidden: "bodies" })
    show(REPORT, "/jobs/j1", [{ name: "differences.csv", kind: "csv", bytes: 10 }])
    expect(await screen.findByText("needs the right “read bodies”")).toBeTruthy()
    expect(screen.queryByRole("link", { name: "CSV" })).toBeNull()
  })

  it("tells in its plan what each side is, and what was compared", async () => {
    const left = { kind: "group", topic: "orders", group: "billing", cluster: "north", where: "tag = 'paid'" }
    const right = { kind: "csv", path: "billed.csv", time: "at", from: "2026-11-21T06:00:00Z" }
    const compare = ["tag", { name: "amount", left: "json:a::double", right: "amount", tolerance: 0.01 }]
    show({ ...REPORT, samples: [sample("P-1", { right: { queue_id: null, queue_offset: null, place: "billed.csv row 4" } })] })
    answer("GET /api/v1/jobs/j1", job("j1", { type: "reconcile", state: "succeeded", request: { type: "reconcile", left, right, by: { left: "key", right: "id" }, compare }, finished_at: "2026-11-21T07:00:00Z" }))
    const valueOf = async (name: string) => (await screen.findByText(name, { selector: "dt" })).nextElementSibling?.textContent
    expect(await valueOf("Left")).toMatch(/^orders.*in cluster north.*consumed by billing.*tag = 'paid'$/)
    expect(await valueOf("Right")).toMatch(/^billed\.csv, .+ – …$/)
    expect(await valueOf("Matched by")).toBe("key = id")
    expect(await valueOf("Compared fields")).toBe("Tagamount: json:a::double | amount ± 0.01")
    expect(screen.getByText("Right: billed.csv")).toBeTruthy()
    expect(screen.getByText("billed.csv row 4")).toBeTruthy()
  })

  it("shows a check of the store by its faults, whatever state they give it", async () => {
    const tiles = { records: 1_200, units: 1_190, keys: 40, index_entries: 38, orphans: 0, purged: 0, expired_entries: 0, pending: 3 }
    const told = ["index: 2 keys are not in the index", "wrong tag hash: orders queue 1 offset 4: the unit says 1, the tag has 2", "later: another kind"]
    answer("GET /api/v1/jobs/j2", job("j2", { type: "reconcile", state: "partial", state_reason: "not all agree", request: { type: "reconcile", check: "store" }, finished_at: "2026-11-21T07:00:00Z" }))
    answer("GET /api/v1/jobs/j2/log", { text: "", next_offset: 0 })
    answer("GET /api/v1/jobs/j2/progress", { samples: [], queues: [], saved_at: null })
    answer("GET /api/v1/jobs/j2/report", { check: "store", tiles, faults: { index: 2, "wrong tag hash": 1, later: 1 }, told })
    const { user, address } = renderApp(<JobPage id="j2" />, { at: "/jobs/j2" })
    expect(await screen.findByText("Finished, 4 faults")).toBeTruthy()
    expect([screen.getByText("1,200"), screen.getByText("Still arriving"), screen.getByText("the first 3 of 4")]).toHaveLength(3)
    expect([screen.queryByText("Records without a queue"), screen.queryByText("not all agree")]).toEqual([null, null])
    expect((await rowOf("another kind")).getByText("Other")).toBeTruthy()
    expect(screen.getByText("the whole store of the embedded broker")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: /Wrong tag hash/ }))
    expect(screen.queryByText("2 keys are not in the index")).toBeNull()
    expect(address()).toContain("kind=wrong")
  })

  it("counts what could not be compared beside the differences, as the summary of the job does", async () => {
    const three = Array.from({ length: 3 }, (_, index) => sample(`P-${index}`))
    show({ tiles: { matched: 90, different: 3, keyless_left: 2, keyless_right: 1 }, samples: three })
    expect(await screen.findByText("Finished, 3 differences")).toBeTruthy()
    expect(screen.getByRole("button", { name: /^All\s*3$/ })).toBeTruthy()
    expect(screen.queryByText(/the files below hold all/)).toBeNull()
    expect(screen.getByText("No key on the left").parentElement?.textContent).toContain("2")
  })

  it("does not say that every message has its match where some have no key", async () => {
    show({ tiles: { matched: 90, keyless_left: 2, keyless_right: 1 }, samples: [] })
    expect(await screen.findByText("Every message with a key has its match. 3 have no key and were not compared.")).toBeTruthy()
  })

  it("opens nothing for a difference that there is not", async () => {
    show(REPORT, "/jobs/j1?sample=99")
    await screen.findByText("P-1")
    expect(screen.queryByRole("complementary")).toBeNull()
  })
})
