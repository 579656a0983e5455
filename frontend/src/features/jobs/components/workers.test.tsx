import { screen, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { JobWorker, JobWorkers } from "@/lib/api-types"
import { job, page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { JobPage } from "./job-page"
import { JobsPage } from "./jobs-page"

const WORKERS = "GET /api/v1/job-workers"
const AT = "2025-01-02T03:04:05Z"

const worker = (overrides: Partial<JobWorker> = {}): JobWorker => ({ name: "celery@one", host: "one", pid: 4000, is_alive: true, heard_at: AT, runs: [], hidden_runs: 0, idle_drivers: [], ...overrides })
const workers = (overrides: Partial<JobWorkers> = {}): JobWorkers => ({ items: [worker()], are_known: true, at_once: 2, queued: 0, most_queued: 200, waiting: [], held: [], waiting_since: null, yours: { running: 0, most_running: 2, queued: 0, most_queued: 100 }, ...overrides })
const run = (id: string): JobWorker["runs"][number] => ({ job_id: id, type: "replay", name: `copy ${id}`, since: AT, attempt: 2, pid: 4711, lease_until: AT })

beforeEach(() => {
  FakeSocket.all = []
  answer("GET /api/v1/jobs", page([job("j1")]))
})

const list = (known: JobWorkers, at = "/jobs") => {
  answer(WORKERS, known)
  return renderApp(<JobsPage scheduleFilter={null} />, { at })
}

describe("the workers beside the list of jobs", () => {
  it("says how much runs and waits", async () => {
    list(workers({ items: [worker({ runs: [run("j1")], hidden_runs: 1 })], queued: 3 }))
    expect(await screen.findByText("newest first · 2 of 2 run, 3 wait")).toBeTruthy()
    expect(screen.queryByRole("note")).toBeNull()
  })

  it("says that jobs wait because no worker lives", async () => {
    list(workers({ items: [worker({ is_alive: false })], queued: 1 }))
    expect(await screen.findByText("No worker lives, so no job starts: 1 job waits.")).toBeTruthy()
  })

  it("does not take silence for death while Redis is away", async () => {
    list(workers({ items: [], are_known: false }))
    expect(await screen.findByText(/not known whether a worker lives/)).toBeTruthy()
    expect(screen.queryByText(/No worker lives/)).toBeNull()
  })

  it("tells of each worker what it runs, from the address", async () => {
    const gone = worker({ pid: 3999, is_alive: false, runs: [run("j2")], hidden_runs: 1 })
    list(workers({ items: [worker({ idle_drivers: [7, 8] }), gone], queued: 2, waiting_since: AT, yours: { running: 1, most_running: 2, queued: 2, most_queued: 100 } }), "/jobs?workers=all&zone=UTC")
    const drawer = within(await screen.findByRole("complementary", { name: "Workers" }))
    expect(await drawer.findByText("process 7, 8")).toBeTruthy()
    expect(drawer.getByText("lives")).toBeTruthy()
    expect(drawer.getByText("1 of at most 2 running, 2 of at most 100 waiting")).toBeTruthy()
    expect(drawer.getByText("silent")).toBeTruthy()
    expect(drawer.getByText("process 3999")).toBeTruthy()
    expect(drawer.getByText("process 4000")).toBeTruthy()
    expect(drawer.getByText("copy j2").getAttribute("href")).toBe("/jobs/j2")
    expect(drawer.getByText(/^since 2 Jan 2025 03:04, attempt 2, process 4711, its run is taken over at 2 Jan 2025 03:04/)).toBeTruthy()
    expect(drawer.getByText("1 job that you may not read")).toBeTruthy()
    expect(drawer.getByText("Show the jobs that wait").getAttribute("href")).toBe("/jobs?state=queued")
  })

  it("does not say that none was heard where Redis, which would know, does not answer", async () => {
    answer(WORKERS, workers({ items: [], are_known: false }))
    renderApp(<JobsPage scheduleFilter={null} />, { at: "/jobs?workers=all" })
    const drawer = within(await screen.findByRole("complementary", { name: "Workers" }))
    expect(await drawer.findByText(/not known whether a worker lives/)).toBeTruthy()
    expect(drawer.queryByText("No worker has been heard in the last hour")).toBeNull()
  })

  it("says that the workers could not be read", async () => {
    refuse(WORKERS, 500, "INTERNAL", "The database does not answer.")
    renderApp(<JobsPage scheduleFilter={null} />, { at: "/jobs?workers=all" })
    expect(await screen.findByText("The workers could not be read")).toBeTruthy()
  })
})

describe("the page of a job that waits", () => {
  const one = (known: JobWorkers, overrides: Parameters<typeof job>[1] = {}) => {
    answer(WORKERS, known)
    answer("GET /api/v1/jobs/j3", job("j3", { state: "queued", started_at: null, rate: null, eta_ms: null, ...overrides }))
    renderApp(<JobPage id="j3" />)
  }

  it.each([
    ["waits for a place: 2 of 2 in the queue, 1 job runs at a time", workers({ items: [worker({ runs: [run("j1")] })], at_once: 1, waiting: [null, "j3"] }), {}],
    ["1 of 1 in the queue", workers({ waiting: ["j3"] }), {}],
    ["1 of 1 in the queue; runs of a schedule start one after the other", workers({ waiting: ["j3"] }), { schedule_id: "s1" }],
    ["waits for another run of its schedule", workers({ held: [{ job_id: "j3", by: "schedule_run", until: null, behind: "j1" }] }), { schedule_id: "s1" }],
    ["waits for another job of its user: no more of one user run at a time", workers({ waiting: ["j3"], held: [{ job_id: "j3", by: "share", until: null, behind: null }] }), {}],
    ["waiting: no worker lives", workers({ items: [] }), {}],
    ["waiting; whether a worker lives is not known", workers({ are_known: false }), {}],
  ])("says %s", async (words, known, overrides) => {
    one(known, overrides)
    expect(await screen.findByText(words)).toBeTruthy()
  })
})
