import { screen, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { AT, replica } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { ReplicasPage } from "./replicas-page"

const REPLICAS = "GET /api/v1/clusters/local/brokers/broker-a/replicas"

it("shows who takes no part by itself as stopped, never as caught up, and says what to do", async () => {
  const held = { code: "ahead", reason: "the master has this log up to 1294 only", common_end: 1_294, more_bytes: 1_665, advice: "keep a copy" }
  answer(REPLICAS, {
    broker: "broker-a", at: AT, mode: "static", master_id: 0, failover: null, failover_reason: null, streams: [], streams_reason: null, silent_name_servers: [],
    replicas: [replica(0), replica(1, { held, log_end: 2_959, behind_bytes: null, behind_ms: null })],
  })
  renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
  const row = within((await screen.findByText("10.0.0.2:10911", { selector: "td *" })).closest("tr") as HTMLElement)
  expect(row.getByText("Stopped for good: its log goes on beyond the master's")).toBeTruthy()
  expect(row.queryByText("Answers")).toBeNull()
  expect(row.getAllByLabelText("Not known: it does not follow: its log is not the master's")).toHaveLength(2)
  expect(screen.getByText("2 of 2 replicas answer, 1 takes no part")).toBeTruthy()
  expect(screen.getByText("no slave follows")).toBeTruthy()
  expect(screen.getByText(/its log goes on to 2,959, and the master has it up to 1,294 only \(1,665 B that the master lacks\)\. Its folder may be the last copy/)).toBeTruthy()
})
