import { act, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { groupSummary, job, topic } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { JobPage } from "./job-page"
import { ReplayWizard } from "./replay-wizard"

beforeEach(() => {
  FakeSocket.all = []
})

describe("a running job", () => {
  beforeEach(() => {
    answer("GET /api/v1/jobs/j1", job("j1"))
    answer("GET /api/v1/jobs/j1/log", { text: "2026-11-21T06:00:00Z INFO started\n", next_offset: 34 })
    answer("GET /api/v1/jobs/j1/report", { queues: [{ broker: "broker-a", queue_id: 0, from: 0, to: 100, read: 60, written: 60 }] })
  })

  it("moves by the live channel and shows log and queues", async () => {
    renderApp(<JobPage id="j1" />)
    expect(await screen.findByText("600 of 1,000 read")).toBeTruthy()
    expect(await screen.findByText("started")).toBeTruthy()
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("job:j1", 1, job("j1", { counters: { planned: 1_000, read: 900, matched: 900, written: 800, filtered: 100, damaged: 0, failed: 0, unknown: 0, skipped: 0, bytes: 1 } }))
    })
    expect(await screen.findByText("900 of 1,000 read")).toBeTruthy()
    expect(screen.getByText("90.0 %")).toBeTruthy()
  })

  it("is cancelled only after saying what stays", async () => {
    answer("POST /api/v1/jobs/j1:cancel", job("j1", { cancel_requested: true }))
    const { user } = renderApp(<JobPage id="j1" />)
    await user.click(await screen.findByRole("button", { name: "Cancel job" }))
    const dialog = within(await screen.findByRole("dialog"))
    expect(dialog.getByText("Cancelling stops the job; the 500 messages already written stay.")).toBeTruthy()
    await user.click(dialog.getByRole("button", { name: "Cancel job" }))
    await waitFor(() => expect(requests("POST /api/v1/jobs/j1:cancel")).toHaveLength(1))
  })
})

describe("a finished comparison", () => {
  it("shows tiles and samples that lead to the messages", async () => {
    const request = { type: "reconcile", left: { topic: "orders" }, right: { topic: "ledger" }, by: "key" }
    answer("GET /api/v1/jobs/j2", job("j2", { type: "reconcile", state: "succeeded", request, finished_at: "2026-11-21T07:00:00Z" }))
    answer("GET /api/v1/jobs/j2/log", { text: "", next_offset: 0 })
    answer("GET /api/v1/jobs/j2/report", {
      tiles: { matched: 998, missing_right: 1, missing_left: 0, different: 0, duplicate_left: 0, duplicate_right: 0 },
      samples: [{ class: "missing_right", key: "P-1", left: { queue_id: 3, queue_offset: 77 }, right: null, fields: [] }],
    })
    renderApp(<JobPage id="j2" />)
    expect(await screen.findByText("Finished, 1 difference")).toBeTruthy()
    expect(screen.getByText("P-1")).toBeTruthy()
    expect(screen.getByRole("link", { name: "3 / 77" }).getAttribute("href")).toContain("topic=orders&queue=3&offset=77")
  })
})

describe("the replay wizard", () => {
  const wizard = (seenBy = [groupSummary("staging-billing")]) => (
    <ReplayWizard topics={["orders", "staging"]} source={topic("orders", { messages: 1_625_600 })} target={topic("staging")} seenBy={seenBy} clusters={[]} targetTopics={[]} queues={null} stored={null} />
  )

  it("names the amount on the button, which waits until one knows who will see the copies", async () => {
    answer("POST /api/v1/jobs", job("j9"), 202)
    const { user } = renderApp(wizard(), { at: "/jobs/new/replay?topic=orders&target=staging&step=start" })
    const start = (await screen.findByRole("button", { name: "Replay 1,625,600 messages" })) as HTMLButtonElement
    expect(start.disabled).toBe(true)
    await user.click(screen.getByLabelText("staging-billing is live and will process these copies again."))
    await user.click(start)
    await waitFor(() =>
      expect(requests("POST /api/v1/jobs")[0]?.body).toEqual({
        type: "replay",
        cluster: "local",
        source: { topic: "orders" },
        target: { topic: "staging" },
        allow_live_target: true,
      }),
    )
  })

  it("writes into the topic that it reads only once that is allowed", async () => {
    const { user, address } = renderApp(wizard(), { at: "/jobs/new/replay?topic=orders&target=orders&step=target" })
    expect(await screen.findByText(/Source and target are the same topic/)).toBeTruthy()
    expect(screen.getByText("Next: Limits").closest("button")?.disabled).toBe(true)
    await user.click(screen.getByLabelText("Write the copies into the topic that is read"))
    await waitFor(() => expect(screen.getByText("Next: Limits").closest("button")?.disabled).toBe(false))
    expect(address()).toContain("live=1")
    expect(screen.getByText(/POST \/api\/v1\/jobs/).closest("pre")?.textContent).toContain('"allow_live_target": true')
  })
})
