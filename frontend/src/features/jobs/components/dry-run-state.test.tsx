import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import type { Job } from "@/lib/api-types"
import { job } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import type { DryRun } from "../use-dry-run"
import { DryRunState } from "./dry-run-state"

const FORECAST = {
  found: 1_200, damaged: 0, bytes: null, first_at: null, last_at: null, estimated_ms: 40, estimated_by: "usual_rate",
  queues: [], first: [], last: [],
} as const

const ended = (forecast: { messages: number; refused: number | null; failures?: { source: string; reason: string }[] }): DryRun => ({
  forecast: { ...FORECAST, ...forecast, queues: [], first: [], last: [] },
  job: job("d1", { state: "succeeded", dry_run: true }), isRunning: false, isOld: false, refused: null, sent: undefined, start: () => undefined,
})

it.each([
  [null, 1_200, "Dry run: the messages were counted"],
  [0, 1_200, "Dry run: every copy could be made"],
  [0, 0, "Dry run: no message passes"],
  [1_003, 197, "Dry run: 1,003 would be refused"],
])("claims no more than what was tried, where %s would be refused and %i be written", async (refused, messages, words) => {
  const failures = refused ? [{ source: "local/broker-a/orders/0/1", reason: "no tag" }] : []
  renderApp(<DryRunState dryRun={ended({ messages, refused, failures })} />)
  expect(await screen.findByText(words)).toBeTruthy()
  expect(screen.queryAllByText("no tag")).toHaveLength(refused ? 1 : 0)
})

const going = (found: Job | undefined): DryRun => ({ forecast: undefined, job: found, isRunning: true, isOld: false, refused: null, sent: undefined, start: () => undefined })

const WORKERS = {
  items: [{ name: "celery@one", host: "one", pid: 4000, is_alive: true, heard_at: null, runs: [], hidden_runs: 1, idle_drivers: [] }], are_known: true, at_once: 1, queued: 1, most_queued: 200,
  waiting: [null, "d1"], held: [], waiting_since: null, yours: { running: 0, most_running: 1, queued: 1, most_queued: 100 },
}

it("says that it waits for a place, and counts nothing yet", async () => {
  answer("GET /api/v1/job-workers", WORKERS)
  renderApp(<DryRunState dryRun={going(job("d1", { state: "queued", dry_run: true, started_at: null }))} />)
  expect(await screen.findByText("Dry run: waiting to begin")).toBeTruthy()
  expect(await screen.findByText("waits for a place: 2 of 2 in the queue, 1 job runs at a time")).toBeTruthy()
  expect(screen.queryByText(/counting/)).toBeNull()
})

it.each([
  ["paused", "Dry run: paused"],
  ["running", "Dry run: counting"],
] as const)("says of one that is %s: %s", async (state, words) => {
  renderApp(<DryRunState dryRun={going(job("d1", { state, dry_run: true }))} />)
  expect(await screen.findByText(words)).toBeTruthy()
})

it("says that it asks the server while nothing is known of the job", async () => {
  renderApp(<DryRunState dryRun={going(undefined)} />)
  expect(await screen.findByText("Dry run: asking the server")).toBeTruthy()
  expect(screen.queryByText(/Nothing is written/)).toBeNull()
})
