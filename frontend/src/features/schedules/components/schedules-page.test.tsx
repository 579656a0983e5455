import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { JobRequest, Me, Schedule } from "@/lib/api-types"
import { admin, job, page, reader, schedule } from "@/testing/factories"
import { held } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, holdAnswer, refuse, requests } from "@/testing/server"
import type { JobForm } from "../scheduled-job"
import { SchedulesPage } from "./schedules-page"

const LIST = "GET /api/v1/schedules"
const CHANGE = "PATCH /api/v1/schedules/s1"
const RUN = "POST /api/v1/schedules/s1:run_now"
const DELETE = "DELETE /api/v1/schedules/s1"
const NIGHTLY = schedule("s1", { name: "nightly", etag: '"3"' })

const STORED: JobRequest = { type: "replay", cluster: "east", source: { topic: "orders" }, target: { topic: "staging" } }
const OTHER: JobRequest = { ...STORED, source: { topic: "payments" } }

/** A form whose fields always make the other job. */
const jobForm = (lost: string[] = []): JobForm => ({
  render: (draw) => draw({ jobFields: () => <p>the form</p>, job: OTHER, isJobWhole: true, jobName: "copy" }),
  formOf: () => ({ state: { topic: "orders" }, lost }),
  isOther: (one, other) => one !== other,
})

function show({ lost = [] as string[], schedules = [NIGHTLY], me = admin(), at = "/schedules?zone=UTC" }: { schedules?: Schedule[]; me?: Me; at?: string; lost?: string[] } = {}) {
  answer(LIST, page(schedules))
  return renderApp(<SchedulesPage jobForm={jobForm(lost)} />, { at, me })
}

const rowOf = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLTableRowElement)
const switchOf = async (name: string) => screen.findByLabelText<HTMLInputElement>(`${name} is on`)

async function openDeletion({ user }: ReturnType<typeof show>) {
  await user.click((await rowOf("nightly")).getByLabelText("More actions"))
  await user.click(await screen.findByText("Delete schedule"))
  return within(await screen.findByRole("dialog"))
}

describe("the list of schedules", () => {
  it("says why the scheduler switched one off", async () => {
    const reason = "The user 'ann', by whose rights it runs, is deactivated. Whoever may start its job can resume it."
    const { user } = show({ schedules: [schedule("s1", { name: "nightly", enabled: false, next_run_at: null, next_runs: [], stopped_reason: reason })] })
    await user.hover(await screen.findByText("paused: see why"))
    expect(await screen.findByText(reason)).toBeTruthy()
  })

  it("tells one that only counts from one that writes", async () => {
    show({ schedules: [NIGHTLY, schedule("s2", { name: "counts", job: { type: "replay", dry_run: true } })] })
    expect((await rowOf("counts")).getByText("Dry run")).toBeTruthy()
    expect((await rowOf("nightly")).queryByText("Dry run")).toBeNull()
  })

  it("tells when each is due next, in the zone of the reader, and what came of its last run", async () => {
    const soon = new Date(Date.now() + 2 * 86_400_000 + 30_000).toISOString()
    show({ schedules: [schedule("s1", { name: "nightly", zone: "Europe/Berlin", next_run_at: soon, next_runs: [soon], last_run_at: "2025-01-02T03:04:05Z", last_state: "failed" })] })
    const row = await rowOf("nightly")
    expect(row.getByText("in 2 d")).toBeTruthy()
    expect(row.getByText("0 3 * * *")).toBeTruthy()
    expect(row.getByText("Europe/Berlin")).toBeTruthy()
    expect(row.getByText("2 Jan 2025 03:04")).toBeTruthy()
    expect(row.getByText("Failed")).toBeTruthy()
    expect(row.getByText("Replay")).toBeTruthy()
  })

  it("shows on a phone name, times, result and what can be done, without a table", async () => {
    onPhone()
    show({ schedules: [schedule("s1", { name: "nightly", zone: "Europe/Berlin", next_run_at: "2125-01-02T03:04:05Z", next_runs: [], last_run_at: "2025-01-02T03:04:05Z", last_state: "failed" })] })
    const row = within((await screen.findByText("nightly")).closest("li") as HTMLElement)
    for (const words of ["0 3 * * *", "2 Jan 2125 03:04", "Failed"]) expect(row.getByText(words)).toBeTruthy()
    expect(row.getByLabelText("More actions")).toBeTruthy()
    expect(row.getByLabelText("nightly is on")).toBeTruthy()
    expect(screen.queryByRole("table")).toBeNull()
  })

  it("says of one that is off that it is, not when it would have run", async () => {
    show({ schedules: [schedule("s1", { name: "nightly", enabled: false, next_run_at: null, next_runs: [] })] })
    expect((await rowOf("nightly")).getByText("switched off")).toBeTruthy()
    expect((await switchOf("nightly")).checked).toBe(false)
  })

  it("has no result for one that never ran, and none for a state it does not know", async () => {
    show({ schedules: [NIGHTLY, schedule("s2", { name: "later", last_state: "exploded" as never })] })
    for (const name of ["nightly", "later"]) {
      const row = await rowOf(name)
      expect(row.getAllByText("—").length).toBeGreaterThan(0)
      expect(row.queryByText("exploded")).toBeNull()
    }
  })

  it("offers the first step when there is none, and opens the form by it", async () => {
    const { user, address } = show({ schedules: [] })
    await screen.findByText("There are no schedules yet")
    expect(screen.queryByText("the form")).toBeNull()
    const [, inTheMiddle] = screen.getAllByRole("button", { name: "Create schedule" })
    await user.click(inTheMiddle as HTMLElement)
    expect(await screen.findByText("the form")).toBeTruthy()
    expect(address()).toContain("new=replay")
  })

  it("says what failed when it cannot be read", async () => {
    refuse(LIST, 503, "DRAINING", "Shutting down.")
    renderApp(<SchedulesPage jobForm={jobForm()} />)
    expect(await screen.findByText("The schedules could not be read")).toBeTruthy()
    expect(screen.getByText("503 DRAINING")).toBeTruthy()
  })
})

describe("switching a schedule on and off", () => {
  it("changes the version that is shown, and reads the list again", async () => {
    const { user } = show()
    answer(CHANGE, { ...NIGHTLY, enabled: false })
    await user.click(await switchOf("nightly"))
    await waitFor(() => expect(requests(LIST)).toHaveLength(2))
    expect(requests(CHANGE).map(({ body }) => body)).toEqual([{ enabled: false }])
    expect(requests(CHANGE)[0]?.headers.get("If-Match")).toBe('"3"')
  })

  it("stands at once as it was put, before the answer comes", async () => {
    const { user } = show()
    const late = held<object>()
    holdAnswer(CHANGE, late.promise)
    await user.click(await switchOf("nightly"))
    await waitFor(async () => expect((await switchOf("nightly")).checked).toBe(false))
    answer(LIST, page([{ ...NIGHTLY, enabled: false, next_run_at: null }]))
    late.settle({})
    expect(await screen.findByText("switched off")).toBeTruthy()
  })

  it("goes back and says why when somebody else changed it meanwhile", async () => {
    const { user } = show()
    refuse(CHANGE, 412, "CHANGED", "The schedule was changed since it was read.")
    await user.click(await switchOf("nightly"))
    expect(await screen.findByText("Schedule nightly was not changed")).toBeTruthy()
    expect(screen.getByText(/The schedule was changed since it was read\./)).toBeTruthy()
    await waitFor(() => expect(requests(LIST)).toHaveLength(2))
    expect((await switchOf("nightly")).checked).toBe(true)
  })
})

describe("running a schedule now", () => {
  it("starts it once and says so", async () => {
    const { user } = show()
    answer(RUN, { id: "j1" }, 202)
    await user.click((await rowOf("nightly")).getByLabelText("Run now"))
    expect(await screen.findByText("nightly was started")).toBeTruthy()
    expect(requests(RUN)).toHaveLength(1)
  })

  it("says why it was not started", async () => {
    const { user } = show()
    refuse(RUN, 409, "CONFLICT", "A run of it has not ended.")
    await user.click((await rowOf("nightly")).getByLabelText("Run now"))
    expect(await screen.findByText("nightly was not started")).toBeTruthy()
    expect(screen.getByText(/A run of it has not ended\./)).toBeTruthy()
  })
})

describe("deleting a schedule", () => {
  it("asks for its name, then deletes the version that was shown", async () => {
    const shown = show()
    answer(DELETE, null, 204)
    const dialog = await openDeletion(shown)
    expect(dialog.getByText("It starts no more jobs. Jobs it has started are kept.")).toBeTruthy()
    const remove = dialog.getByRole<HTMLButtonElement>("button", { name: "Delete schedule" })
    await shown.user.type(dialog.getByLabelText("Type nightly to continue"), "night")
    expect(remove.disabled).toBe(true)
    await shown.user.type(dialog.getByLabelText("Type nightly to continue"), "ly")
    answer(LIST, page([]))
    await shown.user.click(remove)
    expect(await screen.findByText("Schedule nightly was deleted")).toBeTruthy()
    expect(requests(DELETE).map(({ headers }) => headers.get("If-Match"))).toEqual(['"3"'])
    expect(await screen.findByText("There are no schedules yet")).toBeTruthy()
  })

  it("asks for the name anew after somebody changed their mind", async () => {
    const shown = show()
    const dialog = await openDeletion(shown)
    await shown.user.type(dialog.getByLabelText("Type nightly to continue"), "nightly")
    await shown.user.click(dialog.getByRole("button", { name: "Keep it" }))
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull())
    const again = await openDeletion(shown)
    expect(again.getByLabelText<HTMLInputElement>("Type nightly to continue").value).toBe("")
    expect(requests(DELETE)).toHaveLength(0)
  })

  it("leaves it where it is when it is refused", async () => {
    const shown = show()
    refuse(DELETE, 403, "FORBIDDEN", "It is of another team.")
    const dialog = await openDeletion(shown)
    await shown.user.type(dialog.getByLabelText("Type nightly to continue"), "nightly{Enter}")
    expect(await screen.findByText("Schedule nightly was not deleted")).toBeTruthy()
    await rowOf("nightly")
  })
})

describe.each([
  ["viewer", reader(), false],
  ["developer", admin({ role: "developer", rights: ["produce", "consume", "read"] }), false],
  ["operator", admin({ role: "operator", rights: ["produce", "consume", "read", "manage", "jobs"] }), true],
  ["admin", admin(), true],
] as const)("for a %s", (_role, me, may) => {
  let shown: ReturnType<typeof show>

  beforeEach(() => {
    shown = show({ me })
  })

  it(`schedules can be seen${may ? " and changed" : ", and no control works"}`, async () => {
    const row = await rowOf("nightly")
    expect((await switchOf("nightly")).disabled).toBe(!may)
    expect((row.getByLabelText("Run now") as HTMLButtonElement).disabled).toBe(!may)
    expect((screen.getByRole("button", { name: "Create schedule" }) as HTMLButtonElement).disabled).toBe(!may)
    await shown.user.click(row.getByLabelText("More actions"))
    const remove = (await screen.findByText("Delete schedule")).closest("button")
    expect(remove?.disabled).toBe(!may)
    if (!may) expect(remove?.getAttribute("aria-description")).toBe("Needs the right: jobs")
  })
})

describe("a schedule", () => {
  it("gets other times, and keeps its job", async () => {
    answer(CHANGE, NIGHTLY)
    answer("POST /api/v1/schedules:preview", { next_runs: [] })
    const { user, address } = show({ at: "/schedules?zone=UTC&edit=s1" })
    const cron = await screen.findByLabelText<HTMLInputElement>("Cron")
    await user.clear(cron)
    await user.type(cron, "30 4 * * *")
    await user.type(screen.getByLabelText("Start late by at most, minutes"), "90")
    await user.click(screen.getByRole("button", { name: "Save nightly" }))
    await waitFor(() => expect(requests(CHANGE)[0]?.body).toMatchObject({ cron: "30 4 * * *", catch_up_ms: 5_400_000, jitter_ms: 0 }))
    expect(requests(CHANGE)[0]?.body).not.toHaveProperty("job")
    await waitFor(() => expect(address()).not.toContain("edit="))
  })

  it("gets another job, which is sent for the version that was opened", async () => {
    answer(CHANGE, NIGHTLY)
    answer("POST /api/v1/schedules:preview", { next_runs: [] })
    const { user, address } = show({ at: "/schedules?zone=UTC&edit=s1" })
    await user.click(await screen.findByRole("button", { name: "Change the job" }))
    await screen.findByText("the form")
    expect(new URLSearchParams(address().split("?")[1]).get("opened")).toBe('"3"')
    await user.click(screen.getByRole("button", { name: "Save nightly" }))
    await waitFor(() => expect(requests(CHANGE)[0]?.body).toMatchObject({ name: "nightly", job: OTHER }))
    expect(requests(CHANGE)[0]?.headers.get("If-Match")).toBe('"3"')
    await waitFor(() => expect(address()).not.toMatch(/edit=|new=|opened=|topic=/))
  })

  it("is not saved over a change that came after it was opened, and can be loaded again", async () => {
    answer("POST /api/v1/schedules:preview", { next_runs: [] })
    const { user, address } = show({ at: `/schedules?zone=UTC&edit=s1&new=replay&topic=mine&opened=${encodeURIComponent('"2"')}` })
    expect(await screen.findByText(/was changed after you opened it/)).toBeTruthy()
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Save nightly" }).disabled).toBe(true)
    // The command would be refused, too, as the button would
    expect(screen.getByText(/If-Match: "2"/)).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Load it again, without my changes" }))
    await screen.findByRole("button", { name: "Change the job" })
    expect(address()).not.toMatch(/topic=|opened=/)
    expect(screen.queryByText(/was changed after you opened it/)).toBeNull()
  })

  it("offers to load it again when the API says that it was changed", async () => {
    refuse(CHANGE, 412, "CHANGED", "The schedule was changed since it was read.")
    answer("POST /api/v1/schedules:preview", { next_runs: [] })
    const { user } = show({ at: "/schedules?zone=UTC&edit=s1" })
    const save = await screen.findByRole("button", { name: "Save nightly" })
    answer(LIST, page([{ ...NIGHTLY, cron: "5 5 * * *", etag: '"4"' }]))
    await user.click(save)
    await user.click(await screen.findByRole("button", { name: "Load it again, without my changes" }))
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Cron").value).toBe("5 5 * * *"))
  })

  it("names the fields of its job that the form cannot edit", async () => {
    answer("POST /api/v1/schedules:preview", { next_runs: [] })
    show({ at: "/schedules?zone=UTC&edit=s1", lost: ["dry_run", "source.keys"] })
    expect(await screen.findByText("This form cannot edit these fields: dry_run, source.keys. The job can be changed with PATCH /api/v1/schedules/s1.")).toBeTruthy()
    expect(screen.queryByRole("button", { name: "Change the job" })).toBeNull()
  })

  it("is paused with a reason", async () => {
    answer(CHANGE, NIGHTLY)
    const { user } = show({ at: "/schedules?zone=UTC&pause=s1" })
    await user.type(await screen.findByLabelText("Reason"), "no ledger today")
    await user.click(screen.getByRole("button", { name: "Pause nightly" }))
    await waitFor(() => expect(requests(CHANGE)[0]?.body).toEqual({ enabled: false, stopped_reason: "no ledger today" }))
  })

  it("tells what became of each of its times, and why none was started", async () => {
    const run = { id: "r1", outcome: "missed", reason: "too_late", scheduled_for: "2025-01-02T03:00:00Z", first_scheduled_for: "2025-01-01T03:00:00Z", times: 2, created_at: "2025-01-02T09:00:00Z", job_id: null, job: null }
    answer("GET /api/v1/schedules/s1/runs", page([run, { ...run, id: "r2", outcome: "started", reason: null, scheduled_for: null, times: 1, job_id: "j1", job: job("j1", { state: "failed" }) }]))
    show({ at: "/schedules?zone=UTC&runs=s1" })
    const drawer = within(await screen.findByRole("complementary", { name: "Runs of nightly" }))
    const missed = within((await drawer.findByText("Missed")).closest("tr") as HTMLElement)
    expect([missed.getByText("2 Jan 2025 03:00"), missed.getByText("2 times"), missed.getByText("later than it may start")]).toHaveLength(3)
    const byHand = within(drawer.getByText("by hand").closest("tr") as HTMLElement)
    expect(byHand.getByText("Failed")).toBeTruthy()
    expect(byHand.getByRole("link", { name: "Open job" }).getAttribute("href")).toContain("/jobs/j1")
  })
})
