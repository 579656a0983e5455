import { act, fireEvent, screen, waitFor, within } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { Job } from "@/lib/api-types"
import { job, reader } from "@/testing/factories"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { JobPage } from "./job-page"

const ONE = "GET /api/v1/jobs/j1"
const LOG = "GET /api/v1/jobs/j1/log"

function show(known: Partial<Job> = {}, me?: ReturnType<typeof reader>) {
  answer(ONE, job("j1", known))
  return renderApp(<JobPage id="j1" />, me ? { me } : {})
}

const FILES = "GET /api/v1/jobs/j1/artefacts"
const NO_FILES = { items: [], keep_until: null, removed_at: null, removed_reason: null, hidden: null, log_hidden: null }

beforeEach(() => {
  FakeSocket.all = []
  answer(LOG, { text: "", next_offset: 0 })
  answer(FILES, NO_FILES)
  answer("GET /api/v1/jobs/j1/report", {})
  answer("GET /api/v1/jobs/j1/progress", { samples: [], queues: [], saved_at: null })
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe("the page of a job", () => {
  it("says that a job waits, and draws no progress that there is none of", async () => {
    show({ state: "queued", started_at: null, eta_ms: null, rate: null })
    expect(await screen.findByText("waiting for a worker")).toBeTruthy()
    expect(screen.getByText("0.0 %")).toBeTruthy()
  })

  it("gives no share while it is not counted how much there is", async () => {
    show({ counters: { ...job("j1").counters, planned: null }, eta_ms: null })
    expect(await screen.findByText("600 read")).toBeTruthy()
    expect(screen.getByText("— no estimate yet")).toBeTruthy()
    expect(screen.queryByText("0.0 %")).toBeNull()
  })

  it("counts what failed as passed, so that the end is reached", async () => {
    show({ counters: { ...job("j1").counters, read: 1_000, written: 900, failed: 100 } })
    expect(await screen.findByText("100.0 %")).toBeTruthy()
    expect(screen.getByText("listed below")).toBeTruthy()
  })

  it.each(["failed", "partial", "cancelled"] as const)("says why it is %s, and offers to run it again", async (state) => {
    answer("POST /api/v1/jobs/j1:retry", job("j2"), 202)
    const { user } = show({ state, state_reason: "staging is read only", finished_at: "2026-11-21T07:00:00Z" })
    expect(await screen.findByText("staging is read only")).toBeTruthy()
    await user.click(screen.getByText("Run again"))
    await waitFor(() => expect(requests("POST /api/v1/jobs/j1:retry")).toHaveLength(1))
  })

  it("opens the form with the request of one that failed, to start it anew with what was wrong put right", async () => {
    const request = { type: "replay", cluster: "local", source: { topic: "orders", where: "1 / 0 = 1" }, target: { topic: "staging" } }
    const { user, address } = show({ state: "failed", request, finished_at: "2026-11-21T07:00:00Z" })
    await user.click(await screen.findByText("Change and start anew"))
    await waitFor(() => expect(address()).toContain("/jobs/new/replay"))
    const search = new URLSearchParams(address().split("?")[1])
    expect([search.get("topic"), search.get("where"), search.get("target")]).toEqual(["orders", "1 / 0 = 1", "staging"])
  })

  it("opens the form of one that only counted", async () => {
    show({ state: "succeeded", dry_run: true, request: { ...job("j1").request, dry_run: true }, finished_at: "2026-11-21T07:00:00Z" })
    expect(await screen.findByText("Change and start anew")).toBeTruthy()
  })

  it("opens the form of one that succeeded, in its cluster", async () => {
    const request = { type: "redrive", cluster: "rmq49", group: "billing", filter: { causes: ["db down"] }, target: { to: "origin" }, limits: { messages_per_second: 50 } }
    const { user, address } = show({ type: "redrive", cluster: "rmq49", state: "succeeded", request, finished_at: "2026-11-21T07:00:00Z" })
    await user.click(await screen.findByText("Change and start anew"))
    await waitFor(() => expect(address()).toContain("/jobs/new/redrive"))
    const search = new URLSearchParams(address().split("?")[1])
    expect(["cluster", "group", "causes", "send", "rate"].map((word) => search.get(word))).toEqual(["rmq49", "billing", '["db down"]', "origin", "50"])
  })

  it("lets nobody start anew who may start no job", async () => {
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z" }, reader())
    expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Change and start anew" })).disabled).toBe(true)
  })

  it("opens no form for what it would leave out", async () => {
    const source = { topic: "orders", positions: { job: "06rec", file: "missing.jsonl" } }
    show({ state: "failed", request: { type: "replay", source, target: { topic: "staging" } }, finished_at: "2026-11-21T07:00:00Z" })
    expect(await screen.findByText("Run again")).toBeTruthy()
    expect(screen.queryByText("Change and start anew")).toBeNull()
  })

  it("does not look for the report of a comparison that failed without one", async () => {
    answer("GET /api/v1/jobs/j1/report", { code: "NOT_FOUND", detail: "Job j1 is failed and has no report." }, 404)
    show({ type: "reconcile", request: {} as never, state: "failed", state_reason: "no column id", finished_at: "2026-11-21T07:00:00Z" })
    expect(await screen.findByText("no column id")).toBeTruthy()
    expect(screen.getAllByText("Failed").length).toBeGreaterThan(0)
    expect(screen.getByText("Run again")).toBeTruthy()
    // No class was counted: neither a tile nor a zero for it
    expect(screen.queryByText("Matched")).toBeNull()
    expect(screen.queryByText("The report could not be read")).toBeNull()
    expect(requests("GET /api/v1/jobs/j1/report")).toHaveLength(0)
  })

  it("names the messages that it left out, and says that a rate could not be measured", async () => {
    const damage = [{ broker: "broker-a", topic: "orders", queue_id: 2, queue_offset: 7, log_offset: 1, reason: "the body does not match" }]
    answer("GET /api/v1/jobs/j1/report", { failures: [{ source: "local/broker-a/orders/0/12", reason: "too large" }], damage })
    show({ state: "partial", state_code: "some_failed", state_reason: "2 were left out", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, damaged: 1, failed: 1 } })
    expect(await screen.findByText("the body does not match")).toBeTruthy()
    expect([screen.getByText("0 / 12"), screen.getByText("2 / 7"), screen.getByText("too large")]).toHaveLength(3)
    expect(screen.getByText("Some messages were refused")).toBeTruthy()
    expect(await screen.findByText("It was over before a rate could be measured")).toBeTruthy()
  })

  it("does not say of a job that wrote nothing that the others are done", async () => {
    answer("GET /api/v1/jobs/j1/report", { failures: [{ source: "local/broker-a/orders/0/12", reason: "too large" }], damage: [], left_out_listed: 1 })
    show({ state: "failed", state_code: "none_written", state_reason: "1 could not be copied", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, read: 1, matched: 1, written: 0, failed: 1 } })
    expect(await screen.findByText("No message was written")).toBeTruthy()
    expect(await screen.findByText("too large")).toBeTruthy()
    expect(screen.queryByText(/The others are done/)).toBeNull()
  })

  it("offers to replay what was refused instead of a run that would leave out the same, with other expressions", async () => {
    answer("GET /api/v1/jobs/j1/report", { failures: [{ source: "local/broker-a/orders/0/12", reason: "a tag has a bar" }], damage: [], left_out_listed: 1 })
    answer("POST /api/v1/jobs/j1:replay_missing", job("j2"), 202)
    const target = { topic: "staging", transform: { tag: "concat(tag, '||')" } }
    const request = { type: "replay", cluster: "local", source: { topic: "orders" }, target }
    const { user } = show({ request, state: "partial", state_code: "some_failed", state_reason: "1 could not be copied", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, failed: 1 } })
    await user.click(await screen.findByRole("button", { name: "Replay the refused 1" }))
    expect(screen.queryByText("Run again")).toBeNull()
    const field = await screen.findByLabelText("Expression for tag")
    await user.clear(field)
    await user.type(field, "tag")
    await user.click(screen.getByRole("button", { name: /^Replay 1 message/ }))
    await waitFor(() => expect(requests("POST /api/v1/jobs/j1:replay_missing")[0]?.body).toEqual({ target: { topic: "staging", transform: { tag: "tag" } } }))
  })

  it("says how many of the messages that were left out a file names, where it shows the first ones only", async () => {
    answer("GET /api/v1/jobs/j1/report", { failures: [{ source: "local/broker-a/orders/0/12", reason: "too large" }], damage: [], left_out_listed: 100_000 })
    show({ state: "partial", state_code: "some_failed", state_reason: "200,000 could not be copied", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, failed: 200_000 } })
    expect(await screen.findByText("1 of 200,000; failures.jsonl names 100,000")).toBeTruthy()
  })

  it("says that nothing was read, where a chart of rates would be empty", async () => {
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, planned: 0, read: 0, matched: 0, filtered: 0, written: 0 } })
    expect(await screen.findByText("No message was read")).toBeTruthy()
  })

  it("does not say of a job that failed before it told what it read that it read nothing", async () => {
    show({ state: "failed", state_code: "request_refused", state_reason: "no", finished_at: "2026-11-21T07:00:00Z", counters: { ...job("j1").counters, read: null, matched: null, filtered: null, damaged: null, written: 0 } })
    expect(await screen.findByText("Not known how many messages were read")).toBeTruthy()
    expect(screen.queryByText("0.0 %")).toBeNull()
    expect(screen.queryByText("No message was read")).toBeNull()
  })

  it("offers nothing to cancel once it has ended", async () => {
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z" })
    await screen.findByText("Succeeded")
    expect(screen.queryByText("Cancel job")).toBeNull()
    expect(screen.queryByText("Run again")).toBeNull()
  })

  it("does not let it be cancelled twice", async () => {
    show({ cancel_requested: true })
    expect((await screen.findByText("Cancelling")).closest("button")?.disabled).toBe(true)
  })

  it("says when it is retried by itself, and how often yet", async () => {
    answer("GET /api/v1/jobs/j1", job("j1", { state: "queued", state_reason: "its worker was lost", next_try_at: "2025-01-02T03:04:05Z", retries: 1, max_retries: 3 }))
    renderApp(<JobPage id="j1" />, { at: "/jobs/j1?zone=UTC" })
    expect(await screen.findByText("tried again at 2 Jan 2025 03:04: retry 2 of 3")).toBeTruthy()
    expect(screen.getByText("its worker was lost")).toBeTruthy()
  })

  it("is paused and resumed, and says where a resume continues", async () => {
    answer("POST /api/v1/jobs/j1:pause", job("j1", { pause_requested: true }), 202)
    answer("POST /api/v1/jobs/j1:resume", job("j1", { state: "queued" }), 202)
    const { user } = show()
    await user.click(await screen.findByText("Pause"))
    expect(await screen.findByText("pausing after the messages that are on their way")).toBeTruthy()
    expect(screen.queryByText("Pause")).toBeNull()
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("job:j1", 1, job("j1", { state: "paused", state_reason: "paused by admin" }))
    })
    expect(await screen.findByText("paused; a resume continues from the checkpoints")).toBeTruthy()
    expect(screen.getByText("paused by admin")).toBeTruthy()
    expect(screen.getByText("Cancel job")).toBeTruthy()
    await user.click(screen.getByText("Resume"))
    expect(await screen.findByText("waiting for a worker")).toBeTruthy()
  })

  it("says how long it worked before a pause, and when a user started it", async () => {
    answer(ONE, job("j1", { state: "paused", attempt: 2, worked_ms: 103_000, created_at: "2025-01-02T03:04:05Z", started_at: "2025-01-02T09:00:00Z" }))
    renderApp(<JobPage id="j1" />, { at: "/jobs/j1?zone=UTC" })
    expect((await screen.findByText("Ran for")).parentElement?.textContent).toContain("1 min 43 s")
    expect(screen.getByText(/started by admin at 2 Jan 2025 03:04/)).toBeTruthy()
  })

  it("changes the limit in force, down to none", async () => {
    answer("PATCH /api/v1/jobs/j1", ({ body }: { body: unknown }) => ({ body: job("j1", body as Partial<Job>) }))
    const { user } = show({ limits: { messages_per_second: 500 } })
    await user.click(await screen.findByText("limit 500/s"))
    const limit = await findField("Messages a second")
    await user.clear(limit)
    await user.type(limit, "0")
    expect(button("Change").disabled).toBe(true)
    await user.clear(limit)
    await user.click(button("Change"))
    expect(await screen.findByText("no limit")).toBeTruthy()
    expect(requests("PATCH /api/v1/jobs/j1").map(({ body }) => body)).toEqual([{ limits: { messages_per_second: null } }])
  })

  it("offers no limit for a job that sends nothing", async () => {
    show({ type: "reconcile", limits: null, request: { type: "reconcile", left: { topic: "a" }, right: { topic: "b" } } })
    await screen.findByText("Cancel job")
    expect(screen.queryByText("no limit")).toBeNull()
  })

  it("shows a viewer the button to cancel, disabled", async () => {
    show({}, reader())
    expect((await screen.findByText("Cancel job")).closest("button")?.disabled).toBe(true)
  })

  it("stays open when the cancelling was refused", async () => {
    refuse("POST /api/v1/jobs/j1:cancel", 409, "CONFLICT", "The job has ended.")
    const { user } = show({ type: "reconcile", request: { type: "reconcile", left: { topic: "a" }, right: { topic: "b" } } })
    await user.click(await screen.findByText("Cancel job"))
    const dialog = within(await screen.findByRole("dialog"))
    expect(dialog.getByText(/it has written nothing/)).toBeTruthy()
    await user.click(dialog.getByText("Cancel job"))
    expect(await screen.findByText("orders to staging was not cancelled")).toBeTruthy()
    expect(screen.getByRole("dialog")).toBeTruthy()
  })

  it("reads only what is new of the log, and puts warnings forward", async () => {
    answer(LOG, ({ query }: { query: URLSearchParams }) =>
      query.get("offset") === "0" ? { body: { text: "2026-11-21T06:00:00Z INFO started\n", next_offset: 34 } } : { body: { text: "2026-11-21T06:00:05Z WARN queue 3 is slow\n", next_offset: 76 } },
    )
    const { cache } = show()
    await screen.findByText("started")
    await act(() => cache.invalidateQueries({ queryKey: ["jobs", "log"] }))
    const line = await screen.findByText("WARN queue 3 is slow")
    expect(line.closest("p")?.dataset.warning).toBe("true")
    expect(screen.getByText("started")).toBeTruthy()
    expect(requests(LOG).map(({ query }) => query.get("offset"))).toEqual(["0", "34"])
  })

  it("follows the end of the log, whose order it keeps, until its reader scrolls back", async () => {
    vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(900)
    vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(400)
    answer(LOG, { text: "2026-11-21T06:00:00Z INFO started\n2026-11-21T06:00:05Z ERROR it failed\n\tat a.b.C\n", next_offset: 80 })
    const { user } = show()
    const log = await screen.findByRole("log")
    expect([...log.querySelectorAll("p > span")].map((line) => line.textContent)).toEqual(["started", "ERROR it failed", "\tat a.b.C"])
    expect(log.scrollTop).toBe(900)
    log.scrollTop = 20
    fireEvent.scroll(log)
    expect(screen.getByText("not following: scrolled")).toBeTruthy()
    expect(log.scrollTop).toBe(20)
    await user.click(screen.getByText("To the newest"))
    expect(log.scrollTop).toBe(900)
    fireEvent.scroll(log)
    expect(screen.queryByText("not following: scrolled")).toBeNull()
  })

  it("says what of a long log is not shown, and downloads it once all of it is read", async () => {
    const text = `${"2026-11-21T06:00:00Z INFO a line\n".repeat(510)}[2,000,000 bytes of this log are left out: it may have 16 MiB]\n`
    answer(LOG, ({ query }: { query: URLSearchParams }) => ({ body: query.get("offset") === "0" ? { text, next_offset: text.length } : { text: "", next_offset: text.length } }))
    show({ state: "failed", finished_at: "2026-11-21T07:00:00Z", log_bytes: text.length })
    expect(await screen.findByText("2.0 MB of this log are left out: a log may have 16 MiB. Its beginning and its end are kept.")).toBeTruthy()
    expect(screen.getByText("The newest 500 of 511 lines. The download has all of them.")).toBeTruthy()
    await waitFor(() => expect(screen.getByLabelText<HTMLButtonElement>("Download the log").disabled).toBe(false))
  })

  it("asks for no log that would be refused, and says which right is lacking", async () => {
    answer(FILES, { ...NO_FILES, log_hidden: "bodies" })
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z" })
    expect(await screen.findByText("The log of this job needs the right “read bodies”")).toBeTruthy()
    expect(screen.queryByText("The log could not be read")).toBeNull()
    expect(requests(LOG)).toHaveLength(0)
  })

  it("says that the log is full while the program goes on", async () => {
    answer(LOG, { text: "2026-11-21T06:00:00Z INFO a line\n", next_offset: 34 })
    show({ log_bytes: 16 * 2 ** 20 })
    expect(await screen.findByText(/has reached its limit of 16 MiB/)).toBeTruthy()
  })

  const file = { name: "messages.csv", kind: "csv", bytes: 626_061 }
  const listed = { items: [{ ...file, media_type: "text/csv" }], keep_until: "2025-01-02T03:04:05Z", removed_at: null, removed_reason: null, hidden: null, log_hidden: null }

  it("lists its files with their size, and until when they are kept", async () => {
    answer(FILES, listed)
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z", artefacts: [file] })
    expect(await screen.findByText(/^1 · kept until 2 Jan 2025/)).toBeTruthy()
    expect(screen.getByLabelText("Download messages.csv").getAttribute("href")).toBe("/api/v1/jobs/j1/artefacts/messages.csv")
  })

  it("offers no download that the right is lacking for, and says which", async () => {
    answer(FILES, { ...listed, hidden: "bodies" })
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z", artefacts: [file] })
    expect(await screen.findByText("needs the right “read bodies”")).toBeTruthy()
    expect(screen.queryByText("Download")).toBeNull()
  })

  it.each([
    ["30 days after its end", ", 30 days after its end"],
    ["since the files of all jobs had more than 20,480 MiB", ", because the files of all jobs took more than 20,480 MiB"],
  ])("says that its files were removed, and why (%s)", async (reason, words) => {
    answer(FILES, { ...listed, keep_until: null, removed_at: "2025-01-02T03:04:05Z", removed_reason: reason })
    show({ state: "failed", finished_at: "2024-12-21T07:00:00Z", files_removed_at: "2025-01-02T03:04:05Z", artefacts: [file] })
    expect(await screen.findByText((text) => text.startsWith("Log, report and files were removed on 2 Jan 2025") && text.includes(words))).toBeTruthy()
    expect(screen.queryByText("Run again")).toBeNull()
    expect(requests(LOG)).toHaveLength(0)
  })

  it("shows where the time of its run went", async () => {
    const phases = { "waiting for a worker": 1.5, "starting Python": 0.8, planning: 0.02, "starting Spark": 7.5, copying: 60, "until the first messages": 15.1 }
    show({ state: "succeeded", finished_at: "2026-11-21T07:00:00Z", result: { phases } })
    const panel = within((await screen.findByText("Where the time went")).closest("section") as HTMLElement)
    expect(panel.getByText("first messages after 15 s")).toBeTruthy()
    expect(panel.queryByText(/of the last attempt/)).toBeNull()
    expect(panel.getByText("Starting Spark").closest("li")?.textContent).toBe("Starting Spark7 s")
    expect(panel.queryByText("Planning")).toBeNull()
  })

  it("says that the phases of a job that ran more than once are those of its last attempt", async () => {
    show({ state: "succeeded", attempt: 2, finished_at: "2026-11-21T07:00:00Z", result: { phases: { copying: 60, "until the first messages": 15.1 } } })
    expect(await screen.findByText("of the last attempt · first messages after 15 s")).toBeTruthy()
  })

  it("follows the live channel until the end, and stops asking", async () => {
    show()
    await screen.findByText("600 of 1,000 read")
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("job:j1", 1, job("j1", { state: "succeeded", finished_at: "2026-11-21T07:00:00Z" }))
    })
    expect(await screen.findByText("Succeeded")).toBeTruthy()
    expect(screen.getByText("100.0 %")).toBeTruthy()
    expect(requests(ONE)).toHaveLength(1)
  })

  it("says that the job could not be read", async () => {
    refuse(ONE, 404, "NOT_FOUND", "No such job.")
    renderApp(<JobPage id="j1" />)
    expect(await screen.findByText("The job could not be read")).toBeTruthy()
  })
})
