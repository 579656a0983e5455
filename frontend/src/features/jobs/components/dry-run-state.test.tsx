import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { job } from "@/testing/factories"
import { renderApp } from "@/testing/render"
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
