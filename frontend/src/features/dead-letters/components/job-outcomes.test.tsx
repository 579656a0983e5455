import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import type { Job } from "@/lib/api-types"
import { job } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { JobOutcomes } from "./job-outcomes"

const OUTCOMES = "GET /api/v1/clusters/rmq49/dead-letters/billing/outcomes"

const redrive = (others: Partial<Job>) => job("r1", { type: "redrive", cluster: "rmq49", state: "partial", request: { type: "redrive", group: "billing" }, ...others })

it("lists what became of each message of this redrive, in its own cluster", async () => {
  const failed = { at: "2026-11-21T06:00:00Z", outcome: "failed", why: "topic is read-only", message_id: "M-1", keys: ["K-1"], cause: null, broker: "broker-a", queue_id: 0, offset: 1, topic: "orders" }
  answer(OUTCOMES, { items: [{ ...failed, original: "kept" }], next_cursor: null, total: 1, counts: { failed: 1 } })
  renderApp(<JobOutcomes job={redrive({})} />)
  expect(await screen.findByText("topic is read-only")).toBeTruthy()
  expect(screen.getByText("Outcomes")).toBeTruthy()
  expect(requests(OUTCOMES)[0]?.query.get("job")).toBe("r1")
})

it("has none to list before the first run", () => {
  renderApp(<JobOutcomes job={redrive({ state: "queued", attempt: 0 })} />)
  expect(requests(OUTCOMES)).toHaveLength(0)
})
