import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { admin, job, topic } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ReplayWizard } from "./replay-wizard"

const TOPICS = ["orders", "staging"]
const AT_START = "&topic=orders&target=staging&step=start"

const replay = (query: string, { source = topic("orders"), target = topic("staging"), rights = admin().rights } = {}) =>
  renderApp(<ReplayWizard topics={TOPICS} source={source} target={target} seenBy={[]} clusters={["local"]} targetTopics={TOPICS} queues={null} stored={null} />, { at: `/jobs/new/replay?zone=UTC${query}`, me: admin({ rights }) })

describe("the queues of a replay", () => {
  it.each([
    [4, "8 queues of orders are copied to 4 of staging, so some share one. The messages of each keep their order; between queues that share one they mix."],
    [1, "8 queues of orders are copied to the one queue of staging. The messages of each keep their order; between queues they mix."],
  ])("warns that queues share one where the target has only %i", async (queues, words) => {
    replay(AT_START, { source: topic("orders", { total_read_queues: 8 }), target: topic("staging", { total_write_queues: queues }) })
    expect((await screen.findByText("Queues are merged:")).parentElement?.textContent).toBe(`Queues are merged: ${words}`)
  })

  it("warns of nothing where each queue has its own", async () => {
    replay(AT_START, { source: topic("orders", { read_queues: 4 }), target: topic("staging", { write_queues: 8, total_write_queues: 8 }) })
    expect(await screen.findByText("Replay 100 messages")).toBeTruthy()
    expect(screen.queryByRole("note")).toBeNull()
  })
})

describe("a replay of a topic into itself", () => {
  const ITSELF = "&topic=orders&target=orders&step=start"

  it("says at the last step what keeps it from starting, and asks there", async () => {
    const { user, address } = replay(ITSELF)
    const tick = await screen.findByLabelText("Write the copies into the topic that is read")
    expect(screen.getByText(/Source and target are the same topic/)).toBeTruthy()
    expect(screen.getByText("Confirm the effects first")).toBeTruthy()
    for (const name of ["Replay 100 messages", "Save as schedule"]) {
      expect(button(name).disabled).toBe(true)
      expect(button(name).title).toBe("Confirm the effects first")
    }
    await user.click(tick)
    await waitFor(() => expect(address()).toContain("live=1"))
    for (const name of ["Replay 100 messages", "Save as schedule"]) expect(button(name).disabled).toBe(false)
    expect(screen.queryByText("Confirm the effects first")).toBeNull()
  })

  it("is not asked about for another target", async () => {
    replay(AT_START)
    expect(await screen.findByText("Replay 100 messages")).toBeTruthy()
    expect(screen.queryByLabelText("Write the copies into the topic that is read")).toBeNull()
  })

  it.each([
    ["&topic=orders&step=start", "Fill in the missing fields first"],
    ["&topic=orders&target=orders&from=yesterday&step=start", "Correct the marked fields first"],
  ])("says what else is lacking by a link (%s)", async (query, words) => {
    replay(query)
    expect(await screen.findByText(words)).toBeTruthy()
    expect(button("Save as schedule").title).toBe(words)
  })
})

it.each(["&tbody=upper(body)", "&tkeys=json:id::string", "&tprops=region%20%3D%20'north'", "&tkind=parquet&tbody=upper(body)"])(
  "promises no amount where an expression may make what is refused (%s)",
  async (query) => {
    replay(`${AT_START}${query}`)
    expect(await screen.findByText("messages at most, a dry run counts them")).toBeTruthy()
    expect(button("Replay this range").disabled).toBe(false)
  },
)

describe("the rights of a replay", () => {
  const CHECK = "POST /api/v1/access:check"
  const lacking = async () => (await screen.findByText("This job needs rights that you do not have:")).parentElement?.textContent

  it("are missed at the first step, by the topics that were chosen", async () => {
    answer(CHECK, ({ body }: { body: { verb: string } }) => ({ body: { allowed: body.verb === "read" } }))
    replay("&topic=orders&target=staging")
    await waitFor(async () => expect(await lacking()).toContain("“read bodies” on the topic orders; “produce” on the topic staging"))
  })

  it("are missed before a topic is chosen where they are on none", async () => {
    replay("", { rights: ["read", "produce", "jobs"] })
    expect(await lacking()).toBe("This job needs rights that you do not have: “read bodies”")
    expect(requests(CHECK)).toHaveLength(0)
  })

  it("are not missed while the server has not told", async () => {
    replay("&topic=orders&target=staging")
    expect(await screen.findByText("Next: Target")).toBeTruthy()
    await waitFor(() => expect(requests(CHECK)).toHaveLength(3))
    expect(screen.queryByText(/needs rights/)).toBeNull()
  })
})

it("calls what a dry run counted by the hash of a tag the most that it can be", async () => {
  const counted = job("d1", { state: "succeeded", dry_run: true })
  answer("POST /api/v1/jobs", counted, 202)
  answer("GET /api/v1/jobs/d1", counted)
  answer("GET /api/v1/jobs/d1/report", { messages: 40, found: 40, damaged: 0, bytes: null, counted_by: "tag_hashes", first_at: null, last_at: null, estimated_ms: 40, estimated_by: "usual_rate", queues: [], first: [], last: [] })
  const { user } = replay(`${AT_START}&tag=paid`)
  await user.click(await screen.findByRole("button", { name: "Dry run" }))
  expect(await screen.findByText("messages at most: another tag may have the same hash")).toBeTruthy()
  expect(button("Replay this range").disabled).toBe(false)
  expect(screen.queryByText("messages will be written")).toBeNull()
})
