import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { groupSummary, job, reader, topic } from "@/testing/factories"
import { button, choose, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { ReconcileWizard } from "./reconcile-wizard"
import { ReplayWizard } from "./replay-wizard"

const START = "POST /api/v1/jobs"
const TOPICS = ["orders", "staging", "ledger"]
const CHOICES = { topics: TOPICS, groups: ["billing"] }

interface Known {
  source?: ReturnType<typeof topic> | undefined
  target?: ReturnType<typeof topic> | undefined
  /** Null where nobody knows. */
  seenBy?: ReturnType<typeof groupSummary>[] | null
}

const replay = (query: string, { source = topic("orders"), target = topic("staging"), seenBy = [] }: Known = {}, me?: ReturnType<typeof reader>) =>
  renderApp(<ReplayWizard topics={TOPICS} source={source} target={target} seenBy={seenBy ?? undefined} clusters={["local"]} targetTopics={TOPICS} queues={<p>the queues of the source</p>} stored={<p>stored over time</p>} />, { at: `/jobs/new/replay?zone=UTC${query}`, ...(me && { me }) })

const reconcile = (query: string, left = topic("orders"), right = topic("ledger")) =>
  renderApp(<ReconcileWizard clusters={["local"]} choices={{ left: CHOICES, right: CHOICES }} left={left} right={right} />, { at: `/jobs/new/reconcile?zone=UTC${query}` })

const AT_START = "&topic=orders&target=staging&step=start"

describe("the steps of a replay", () => {
  it("wait for a source, and keep each choice in the address", async () => {
    const { user, address } = replay("")
    await findField("Topic to read")
    expect(button("Next: Target").disabled).toBe(true)
    await choose(user, field("Topic to read"), "orders")
    await waitFor(() => expect(address()).toContain("topic=orders"))
    await user.click(button("Next: Target"))
    await waitFor(() => expect(address()).toContain("step=target"))
  })

  it.each([
    ["From", "昨天", "Use the format 2026-11-21 14:10:00"],
    ["Queues", "one two", "Only queue numbers, such as 0, 3"],
  ])("do not go on while %s reads %s, and say why at the field", async (label, typed, error) => {
    const { user } = replay("&topic=orders")
    fireEvent.change(await findField(label), { target: { value: typed } })
    await waitFor(() => expect(errorOf(field(label))).toBe(error))
    expect(field(label).value).toBe(typed)
    expect(button("Next: Target").disabled).toBe(true)
    await user.clear(field(label))
    await waitFor(() => expect(button("Next: Target").disabled).toBe(false))
  })

  it("do not go on with a range that ends before it begins", async () => {
    replay("&topic=orders&from=2026-11-21T06:00:00.000Z")
    fireEvent.change(await screen.findByLabelText("To"), { target: { value: "2026-11-21 05:00:00" } })
    await waitFor(() => expect(button("Next: Target").disabled).toBe(true))
    expect(screen.getByText("The end must be later than the start")).toBeTruthy()
  })

  it.each(["-5", "0"])("do not turn the limit %s into another", async (typed) => {
    const { user } = replay("&topic=orders&target=staging&step=limits")
    await retype(user, await findField("Messages a second"), typed)
    await user.tab()
    expect(field("Messages a second").value).toBe(typed)
    expect(errorOf(field("Messages a second"))).toBe("A whole number from 1 to 10,000,000")
    await waitFor(() => expect(button("Next: Start").disabled).toBe(true))
  })

  it("can be walked back, never ahead of what was chosen", async () => {
    const { user, address } = replay("&topic=orders&target=staging&step=limits")
    await findField("Messages a second")
    expect(button("Start").disabled).toBe(true)
    await user.click(button("Source"))
    await waitFor(() => expect(address()).toContain("step=source"))
    expect(field("Topic to read").value).toBe("orders")
  })

  it("come back as they were by the link alone", async () => {
    replay("&topic=orders&keys=A17&tag=paid&queues=0,3&from=2026-11-21T06:00:00.000Z")
    expect((await findField("Topic to read")).value).toBe("orders")
    expect([field("Keys").value, field("Tag").value, field("Queues").value]).toEqual(["A17", "paid", "0,3"])
    expect(field("From").value).toBe("2026-11-21 06:00:00")
  })

  it("show the request as it grows, and nothing that was left empty", async () => {
    const { user } = replay("&topic=orders&target=staging&step=limits")
    await user.type(await findField("Messages a second"), "500")
    await waitFor(() => expect(screen.getByText(/POST \/api\/v1\/jobs/).closest("pre")?.textContent).toContain('"messages_per_second": 500'))
    expect(screen.getByText(/POST \/api\/v1\/jobs/).closest("pre")?.textContent).not.toContain("max_messages")
  })

  it("go on as a schedule with everything that was chosen", async () => {
    const { user, address } = replay(AT_START)
    await user.click(await screen.findByText("Save as schedule"))
    await waitFor(() => expect(address()).toMatch(/^\/schedules\?/))
    for (const part of ["new=replay", "topic=orders", "target=staging"]) expect(address()).toContain(part)
    expect(address()).not.toContain("step=")
  })

  it("are dropped without a request", async () => {
    const { user, address } = replay(AT_START)
    await user.click(await screen.findByText("Discard"))
    await waitFor(() => expect(address()).toBe("/jobs"))
    expect(requests(START)).toHaveLength(0)
  })

  it("are locked for a viewer, who may still read them", async () => {
    replay("&topic=orders", {}, reader())
    expect((await findField("Topic to read")).closest("fieldset")?.disabled).toBe(true)
  })
})

describe("the decision to replay", () => {
  it("promises an amount only where all of the topic is copied", async () => {
    replay(AT_START, { source: topic("orders", { messages: 1_000 }) })
    expect(await screen.findByText("Replay 1,000 messages")).toBeTruthy()
    expect(screen.getByText("messages will be written")).toBeTruthy()
  })

  it.each(["&tag=paid", "&keys=A17", "&where=key%20%3D%20'a'", "&from=2026-11-21T06:00:00.000Z", "&bounds=offsets&offsets=0:%2010%20-"])(
    "gives no amount where only a dry run can count (%s)",
    async (query) => {
      replay(`${AT_START}${query}`, { source: topic("orders", { messages: 1_000 }) })
      expect(await screen.findByText("Replay this range")).toBeTruthy()
      expect(screen.getByText("messages: a dry run counts them")).toBeTruthy()
      expect(screen.queryByText("1,000")).toBeNull()
    },
  )

  it("takes the most that it can be from offsets and from the limit", async () => {
    replay(`${AT_START}&bounds=offsets&offsets=0:%2010%20-%2025`, { source: topic("orders", { messages: 1_000 }) })
    expect(await screen.findByText("messages at most, a dry run counts them")).toBeTruthy()
    expect(screen.getByText("15")).toBeTruthy()
  })

  it("is cut by the limit", async () => {
    replay(`${AT_START}&max=10`, { source: topic("orders", { messages: 1_000 }) })
    expect(await screen.findByText("Replay 10 messages")).toBeTruthy()
  })

  it("never writes an unknown amount as zero", async () => {
    replay(AT_START, { source: topic("orders", { messages: null }) })
    expect(await screen.findByText("messages: counted when the job runs")).toBeTruthy()
    expect(screen.queryByText("Replay 0 messages")).toBeNull()
  })

  it("asks for a tick for each live group, and for none that nobody is in", async () => {
    answer(START, job("j9"), 202)
    const { user } = replay(AT_START, { seenBy: [groupSummary("live-a"), groupSummary("live-b"), groupSummary("empty", { clients: 0 })] })
    await user.click(await screen.findByLabelText(/^live-a is live/))
    expect(button("Replay 100 messages").disabled).toBe(true)
    const shown = () => screen.getByText(/POST \/api\/v1\/jobs/).closest("pre")?.textContent
    expect(shown()).not.toContain("allow_live_target")
    await user.click(screen.getByLabelText(/^live-b is live/))
    expect(shown()).toContain('"allow_live_target": true')
    expect(screen.queryByLabelText(/^empty is live/)).toBeNull()
    await user.click(button("Replay 100 messages"))
    await waitFor(() => expect(requests(START)).toHaveLength(1))
  })

  it("leads to the job that was started", async () => {
    answer(START, job("j9", { name: "orders to staging" }), 202)
    const { user, address } = replay(AT_START)
    await user.click((await screen.findByText("Replay 100 messages")).closest("button") as HTMLButtonElement)
    expect(await screen.findByText("orders to staging was started")).toBeTruthy()
    await waitFor(() => expect(address()).toBe("/jobs/j9"))
  })

  it("stays with all its fields when it was refused", async () => {
    refuse(START, 409, "CONFLICT", "staging has no queue to write.")
    const { user, address } = replay(AT_START)
    await user.click((await screen.findByText("Replay 100 messages")).closest("button") as HTMLButtonElement)
    expect(await screen.findByText("The job was not started")).toBeTruthy()
    expect(address()).toContain("step=start")
  })
})

describe("the steps of a comparison", () => {
  it("do not go on with a moment that cannot be read, nor start with it by a link", async () => {
    const { user } = reconcile("&left=orders&right=ledger&step=range")
    await user.type(await findField("From"), "yesterday")
    await waitFor(() => expect(button("Next: Compare").disabled).toBe(true))
    expect(errorOf(field("From"))).toBe("Use the format 2026-11-21 14:10:00")
  })

  it("do not start with a link that cannot be read", async () => {
    reconcile("&left=orders&right=ledger&from=yesterday&step=start")
    await screen.findByText("Compare the two topics")
    expect(button("Compare the two topics").disabled).toBe(true)
  })

  it("refuse to compare a topic with itself", async () => {
    reconcile("&left=orders&right=orders")
    expect(await screen.findByText("Both sides are the same topic.")).toBeTruthy()
    expect(button("Next: Range").disabled).toBe(true)
  })

  it("match by key unless another way is chosen, which stands in the address", async () => {
    const { user, address } = reconcile("&left=orders&right=ledger&step=compare")
    await user.click(await screen.findByText("Message ID"))
    await waitFor(() => expect(address()).toContain("by=unique_id"))
    await user.click(screen.getByText("Key"))
    await waitFor(() => expect(address()).not.toContain("by="))
  })

  it("read both topics at most, and write nothing", async () => {
    reconcile("&left=orders&right=ledger&step=start", topic("orders", { messages: 1_200 }), topic("ledger", { messages: 800 }))
    expect(await screen.findByText("2,000")).toBeTruthy()
    expect(screen.getByText("nothing, only a report")).toBeTruthy()
  })

  it("do not add an unknown side as zero", async () => {
    reconcile("&left=orders&right=ledger&step=start", topic("orders", { messages: 1_200 }), topic("ledger", { messages: null }))
    expect(await screen.findByText("messages: counted when the job runs")).toBeTruthy()
    expect(screen.queryByText("1,200")).toBeNull()
  })

  it("send one range for both sides", async () => {
    answer(START, job("j3"), 202)
    const { user } = reconcile("&left=orders&right=ledger&from=2026-11-21T00:00:00.000Z&step=start&name=nightly")
    await user.click((await screen.findByText("Compare the two topics")).closest("button") as HTMLButtonElement)
    await waitFor(() => expect(requests(START)).toHaveLength(1))
    const from = "2026-11-21T00:00:00.000Z"
    expect(requests(START)[0]?.body).toEqual({ type: "reconcile", name: "nightly", cluster: "local", left: { topic: "orders", from }, right: { topic: "ledger", from }, by: "key", compare: "body" })
  })
})

describe("the dry run of a replay", () => {
  const forecast = {
    messages: 1_200, found: 1_500, damaged: 2, bytes: null, first_at: null, last_at: null, estimated_ms: 40, estimated_by: "usual_rate",
    queues: [{ broker: "broker-a", queue_id: 3, from: 10, to: 1_510, messages: 1_500, damaged: 2, bytes: null, first_at: null, last_at: null }],
    first: [], last: [],
  }
  const dry = (state: "running" | "succeeded" | "failed", state_reason: string | null = null) => job("d1", { state, dry_run: true, state_reason, finished_at: state === "running" ? null : "2026-11-21T07:00:00Z" })

  it("counts exactly what the button then starts, queue by queue", async () => {
    answer(START, dry("succeeded"), 202)
    answer("GET /api/v1/jobs/d1", dry("succeeded"))
    answer("GET /api/v1/jobs/d1/report", forecast)
    const { user, address } = replay(`${AT_START}&tag=paid&where=json:a%20%3E%201`)
    await user.click(await screen.findByRole("button", { name: "Dry run" }))
    expect(await screen.findByRole("button", { name: "Replay 1,200 messages" })).toBeTruthy()
    expect(requests(START)[0]?.body).toMatchObject({ source: { tag: "paid", where: "json:a > 1" }, dry_run: true })
    expect(address()).toContain("dry=d1.")
    expect(screen.getByText("Dry run: the messages were counted")).toBeTruthy()
    expect(screen.getByText("1,500; the limit leaves the rest out")).toBeTruthy()
    expect(screen.getByText("less than 1 s without a limit, once Spark has started")).toBeTruthy()
    expect(screen.getAllByLabelText(/which messages the limit takes shows when the job runs/)).toHaveLength(3)
    expect(screen.getByText("as of the dry run, before the limit")).toBeTruthy()
    expect(screen.getByRole("group", { name: "What will be touched, per queue" }).textContent).toContain("1,510")
  })

  it("says that it was one of another request", async () => {
    answer("GET /api/v1/jobs/d1", dry("succeeded"))
    replay(`${AT_START}&dry=d1.other`)
    expect(await screen.findByText("The dry run was one of another request: something was changed since.")).toBeTruthy()
    expect(button("Replay 100 messages")).toBeTruthy()
  })

  it("names the field that was refused", async () => {
    answer(START, { status: 422, detail: "The request is not valid.", errors: [{ pointer: "#/source/where", detail: "contains a query" }] }, 422)
    const { user } = replay(`${AT_START}&where=x`)
    await user.click(await screen.findByRole("button", { name: "Dry run" }))
    expect(await screen.findByText("source.where")).toBeTruthy()
    expect(screen.getByText(/contains a query/)).toBeTruthy()
  })
})

it("allows what is read to be written to, and nothing besides", async () => {
  answer(START, job("j1"), 202)
  const { user } = replay(AT_START, { seenBy: [groupSummary("empty", { clients: 0 })] })
  await user.click(await screen.findByRole("button", { name: /^Replay/ }))
  await waitFor(() => expect(requests(START)[0]?.body).toMatchObject({ allow_live_target: true }))
})

it("does not say that no group gets the copies while that is not known, and leaves the check to the server", async () => {
  answer(START, job("j1"), 202)
  const { user } = replay(AT_START, { seenBy: null })
  expect(await screen.findByText(/Which groups consume from the target is not known/)).toBeTruthy()
  expect(screen.queryByText("No group consumes from the target.")).toBeNull()
  await user.click(await screen.findByRole("button", { name: /^Replay/ }))
  await waitFor(() => expect(requests(START)).toHaveLength(1))
  expect(requests(START)[0]?.body).not.toHaveProperty("allow_live_target")
})

it("writes to the topic of the same name in another cluster", async () => {
  answer(START, job("j1"), 202)
  const { user } = replay("&topic=orders&target=orders&tcluster=east&step=start")
  await user.click(await screen.findByRole("button", { name: /^Replay/ }))
  await waitFor(() => expect(requests(START)[0]?.body).toMatchObject({ target: { topic: "orders", cluster: "east" } }))
  expect(requests(START)[0]?.body).not.toHaveProperty("allow_live_target")
})

it("writes what copies get instead into the request", async () => {
  answer(START, job("j1"), 202)
  const { user } = replay(`${AT_START}&ttag='copy'&tprops=region%20%3D%20'north'%0Atest%20%3D%20NULL&preserve=unique_id&damage=stop`)
  await user.click(await screen.findByRole("button", { name: /^Replay/ }))
  await waitFor(() =>
    expect(requests(START)[0]?.body).toMatchObject({
      target: { topic: "staging", transform: { tag: "'copy'", properties: { region: "'north'", test: "NULL" } }, preserve: ["unique_id"] },
      on_damage: "stop",
    }),
  )
})

describe("the target of a replay", () => {
  it("may be a file, which has no topic, limits or groups that read it", async () => {
    answer(START, job("j1"), 202)
    const { user } = replay("&topic=orders&target=staging&rate=5&preserve=unique_id&keysfile=lost.txt&step=target", { seenBy: [groupSummary("billing")] })
    await user.click(await screen.findByText("Parquet file"))
    await waitFor(() => expect(screen.queryByLabelText("Topic to write")).toBeNull())
    await user.click(button("Next: Limits"))
    expect(screen.queryByLabelText("Messages a second")).toBeNull()
    await user.click(button("Next: Start"))
    expect(await screen.findByText("a Parquet file of the job")).toBeTruthy()
    expect(screen.queryByText("billing")).toBeNull()
    await user.click(await screen.findByRole("button", { name: /^Replay/ }))
    await waitFor(() => expect(requests(START)[0]?.body).toEqual({ type: "replay", cluster: "local", source: { topic: "orders", keys_file: "lost.txt" }, target: { kind: "parquet" } }))
  })

  it("keeps what is ticked of the originals, and their order by key", async () => {
    answer(START, job("j1"), 202)
    const { user, address } = replay("&topic=orders&target=staging&step=target")
    await user.click(await screen.findByLabelText("Keep the time of sending"))
    await waitFor(() => expect(address()).toContain("preserve=born_at"))
    await user.click(screen.getByLabelText("Keep the message ID"))
    await user.click(screen.getByText("Key"))
    await waitFor(() => expect(address()).toContain("torder=key"))
    for (const step of ["Limits", "Start"]) await user.click(button(`Next: ${step}`))
    await user.click(await screen.findByRole("button", { name: /^Replay/ }))
    await waitFor(() => expect(requests(START)[0]?.body).toMatchObject({ target: { topic: "staging", order: "key", preserve: ["unique_id", "born_at"] } }))
  })
})

describe("the sides of a comparison", () => {
  const ROWS = "&left=orders&rkind=postgresql&rconn=shop&rtable=public.orders"

  it("have the fields of their kind, and rows are compared by SQL alone", async () => {
    const { user } = reconcile("&left=orders")
    await choose(user, await findField("Kind of the right side"), "PostgreSQL")
    await user.type(await findField("Connection of the right side"), "shop")
    expect(button("Next: Range").disabled).toBe(true)
    await user.type(field("Table of the right side"), "public.orders")
    await waitFor(() => expect(button("Next: Range").disabled).toBe(false))
    await user.click(button("Next: Range"))
    await user.click(await screen.findByText("Next: Compare"))
    expect(await findField("Key on the left")).toBeTruthy()
    expect(screen.queryByText("Message ID")).toBeNull()
    expect(button("Next: Start").disabled).toBe(true)
  })

  it("are sent as their kind has them", async () => {
    answer(START, job("j4", { type: "reconcile" }), 202)
    const { user } = reconcile(`${ROWS}&rtime=created_at&from=2026-11-21T00:00:00.000Z&bleft=key&bright=order_id&step=start&name=ledger`)
    await user.click(await screen.findByRole("button", { name: "Compare the two sides" }))
    const from = "2026-11-21T00:00:00.000Z"
    await waitFor(() =>
      expect(requests(START)[0]?.body).toEqual({
        type: "reconcile", name: "ledger", cluster: "local", left: { topic: "orders", from }, by: { left: "key", right: "order_id" }, compare: "none",
        right: { kind: "postgresql", connection: "shop", table: "public.orders", time: "created_at", from },
      }),
    )
  })

  it("need the column of the time for a range", async () => {
    reconcile(`${ROWS}&from=2026-11-21T00:00:00.000Z&step=range`)
    expect(await screen.findByText("A range needs the time column of this side")).toBeTruthy()
    expect(button("Next: Compare").disabled).toBe(true)
  })

  it("show the refusal of a connection at its field", async () => {
    refuseFields(START, { "right/connection": "is no connection of the file of GANTRY_JOBS_DATABASES, which has: shop, stock" })
    const { user } = reconcile(`${ROWS}&bleft=key&bright=order_id&step=start`)
    await user.click(await screen.findByRole("button", { name: "Compare the two sides" }))
    await user.click(await screen.findByRole("button", { name: "Go to Two sides" }))
    expect(errorOf(await findField("Connection of the right side"))).toContain("shop, stock")
  })

  it("may be the store itself", async () => {
    answer(START, job("j5", { type: "reconcile" }), 202)
    const { user } = reconcile("")
    await user.click(await screen.findByText("The store with itself"))
    await user.click(await screen.findByText("Next: Start"))
    await user.click(await screen.findByRole("button", { name: "Check the store" }))
    await waitFor(() => expect(requests(START)[0]?.body).toEqual({ type: "reconcile", cluster: "local", check: "store" }))
  })

  it("are what a group has consumed against what was produced", async () => {
    reconcile("&left=orders&rkind=group&right=orders&rgroup=billing&step=start")
    expect(await screen.findByText("orders (billing)")).toBeTruthy()
    expect(button("Compare the two sides").disabled).toBe(false)
  })
})
