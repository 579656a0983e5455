import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { Me, Topic, TopicProducer, TopicQueue } from "@/lib/api-types"
import { admin, reader, topic } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { TopicPage } from "./topic-page"

const ONE = "GET /api/v1/clusters/local/topics/orders"
const CHANGE = "PATCH /api/v1/clusters/local/topics/orders"
const DELETE = "DELETE /api/v1/clusters/local/topics/orders"
const IMPACT = `${ONE}/impact`
const DONE = { broker: "broker-a", done: true, reason: null }
const AWAY = { broker: "broker-b", done: false, reason: "broker-b is not listed by any name server" }

function show(tab?: string, { known = topic("orders"), me = admin() }: { known?: Topic; me?: Me } = {}) {
  answer(ONE, known, 200, { ETag: '"v1"' })
  const part = <TopicPage cluster="local" topic="orders" messages={<p>its messages</p>} groups={<p>its groups</p>} activity={null} />
  return renderApp(part, { at: `/topics/orders${tab ? `?tab=${tab}` : ""}`, me })
}

describe("the page of a topic", () => {
  it("opens with its messages, and keeps another tab in the address", async () => {
    const { user, address } = show()
    expect(await screen.findByText("its messages")).toBeTruthy()
    await user.click(screen.getByRole("tab", { name: /Groups/ }))
    expect(await screen.findByText("its groups")).toBeTruthy()
    expect(address()).toBe("/topics/orders?tab=groups")
    await user.click(screen.getByRole("tab", { name: /Messages/ }))
    await waitFor(() => expect(address()).toBe("/topics/orders"))
  })

  it("says for which messages it is, also among its settings", async () => {
    show("config", { known: topic("orders", { message_type: "fifo" }) })
    expect(await screen.findByText("Normal · on broker-a · messages: Ordered")).toBeTruthy()
    expect((await screen.findByText("Message type")).parentElement?.textContent).toContain("Ordered")
  })

  it("shows its messages for a tab that does not exist", async () => {
    show("nothing")
    expect(await screen.findByText("its messages")).toBeTruthy()
  })

  it("counts the queues of all its brokers, and says on how many they are", async () => {
    show(undefined, { known: topic("orders", { brokers: ["broker-a", "broker-b"], total_read_queues: 8, total_write_queues: 8 }) })
    expect(await screen.findByText("on 2 brokers together")).toBeTruthy()
    expect(screen.getByText("8 / 8")).toBeTruthy()
    expect(screen.getByRole("tab", { name: /Queues/ }).textContent).toBe("Queues8")
  })

  it("calls a figure of an outage the last known one, and only one that never was read unknown", async () => {
    const last = { at: new Date(Date.now() - 56_000).toISOString(), messages: 3_436, in_rate: 2, last_stored_at: null, max_lag: null }
    const silent = { messages: null, size_bytes: null, in_rate: null, out_rate: null, last_stored_at: null, groups: null, max_lag: null, last_known: last }
    show(undefined, { known: topic("orders", { ...silent, missing: [{ broker: "broker-a", reason: "broker-a is silent", since: null }] }) })
    const cellOf = async (label: string) => (await screen.findAllByText(label, { selector: "div" }))[0]?.parentElement?.textContent
    expect(await cellOf("Messages")).toMatch(/3,43656 s agolast known$/)
    expect(await cellOf("Max lag")).toMatch(/Not known$/)
  })

  it("says what failed of a topic that is not there, and asks no more", async () => {
    refuse(ONE, 404, "TOPIC_NOT_FOUND", "There is no topic orders.")
    renderApp(<TopicPage cluster="local" topic="orders" messages={null} groups={null} activity={null} />)
    expect(await screen.findByText("Topic orders could not be read")).toBeTruthy()
    expect(screen.getByText("404 TOPIC_NOT_FOUND")).toBeTruthy()
  })
})

describe("a topic that was deleted", () => {
  it("is no longer shown as it was, although it is still in the cache", async () => {
    const { cache } = show()
    expect(await screen.findByText("its messages")).toBeTruthy()
    refuse(ONE, 404, "TOPIC_NOT_FOUND", "There is no topic orders.")
    await cache.invalidateQueries()
    expect(await screen.findByText("It no longer exists")).toBeTruthy()
    expect(screen.queryByText("its messages")).toBeNull()
    expect(screen.queryByRole("tab")).toBeNull()
  })
})

describe("the queues of a topic", () => {
  const queue = (queue_id: number, overrides: Partial<TopicQueue> = {}): TopicQueue => ({ broker: "broker-a", queue_id, min_offset: 0, max_offset: 1_500, count: 1_500, last_stored_at: null, unknown_reason: null, ...overrides })

  it("are told one by one, and lead to their oldest message", async () => {
    answer(`${ONE}/queues`, { items: [queue(0), queue(1, { min_offset: 40, max_offset: 90, count: 50 })] })
    const { user, address } = show("queues")
    expect(await screen.findByText("bars share one scale, 1,500")).toBeTruthy()
    await user.click(screen.getAllByText("Read")[1] as HTMLElement)
    await waitFor(() => expect(address()).toBe("/messages?mode=offset&topic=orders&queue=1&offset=40"))
  })

  it("of a broker that does not answer say so, and lead nowhere", async () => {
    answer(`${ONE}/queues`, { items: [queue(0, { min_offset: null, max_offset: null, count: null, unknown_reason: "broker-a is not listed by any name server" })] })
    show("queues")
    expect(await screen.findByText("broker-a is not listed by any name server")).toBeTruthy()
    expect(screen.queryByText("Read")).toBeNull()
    expect(screen.getAllByLabelText("Not known: broker-a is not listed by any name server")).toHaveLength(3)
  })
})

describe("the producers of a topic", () => {
  const producer = (overrides: Partial<TopicProducer> = {}): TopicProducer => ({
    group: "shop", client_id: "10.0.0.9@7", client_ids: ["10.0.0.9@7"], is_gateway: false, is_connected: true, address: "10.0.0.9:51000", language: "JAVA", version: "V4_9_8",
    sends: "seen", messages: 1_500, last_send_at: "2026-07-01T10:00:00.000Z", rate: 12.5, unknown_reason: null, ...overrides,
  })

  it("may be none, which is no fault", async () => {
    answer(`${ONE}/producers`, { items: [], counted_since: null })
    show("producers")
    expect(await screen.findByText("No producer sends or is connected")).toBeTruthy()
  })

  it("are told with what they sent; who only is connected, and who left, is marked", async () => {
    const idle = producer({ group: "shop-batch", sends: "none", messages: 0, last_send_at: null, rate: 0 })
    answer(`${ONE}/producers`, { items: [producer({ is_connected: false }), idle], counted_since: "2026-07-01T09:00:00.000Z" })
    show("producers")
    expect(await screen.findByText("shop-batch")).toBeTruthy()
    expect(screen.getByText("1,500")).toBeTruthy()
    expect(screen.getAllByText("never wrote here")).toHaveLength(1)
    expect(screen.getAllByText("not connected")).toHaveLength(1)
    expect(screen.getByText(/^Sends are counted since /)).toBeTruthy()
  })

  it("show the gateway as what it is, in one row", async () => {
    answer(`${ONE}/producers`, { items: [producer({ group: "GANTRY_GATEWAY", client_id: null, client_ids: ["a", "b"], is_gateway: true })], counted_since: null })
    show("producers")
    expect(await screen.findByText("2 processes")).toBeTruthy()
    expect(screen.getByText(/^The gateway sends for all callers/)).toBeTruthy()
  })

  it("of a broker that does not tell are never said to send", async () => {
    const reason = "the broker at h:1 does not tell which producers send to a topic; Gantry does"
    answer(`${ONE}/producers`, { items: [producer({ sends: "unknown", messages: null, last_send_at: null, rate: null, unknown_reason: reason })], counted_since: null })
    show("producers")
    expect(await screen.findAllByLabelText(`Not known: ${reason}`)).toHaveLength(3)
    expect(screen.getByText(/^It is not known who sends/)).toBeTruthy()
    expect(screen.queryByText("never wrote here")).toBeNull()
  })
})

describe("the settings of a topic", () => {
  const number = (label: string, value: string) => fireEvent.change(field(label), { target: { value } })

  it("are sent as far as they changed, for the version that was read", async () => {
    answer(CHANGE, { ...topic("orders"), write_queues: 2, brokers: [DONE] })
    const { user } = show("config")
    await findField("Write queues")
    expect(button("Nothing changed yet").disabled).toBe(true)
    number("Write queues", "2")
    await user.click(screen.getByText("Write only"))
    await user.click(button("Change 2 fields"))
    expect(await screen.findByText("Topic orders was changed")).toBeTruthy()
    expect(requests(CHANGE).map(({ body }) => body)).toEqual([{ write_queues: 2, permission: "w" }])
    expect(requests(CHANGE)[0]?.headers.get("If-Match")).toBe('"v1"')
    await waitFor(() => expect(button("Nothing changed yet").disabled).toBe(true))
  })

  it("that were put back are no change", async () => {
    show("config")
    await findField("Read queues")
    number("Read queues", "9")
    expect(button("Change 1 field").disabled).toBe(false)
    number("Read queues", "4")
    expect(button("Nothing changed yet").disabled).toBe(true)
  })

  it("are put back by Cancel", async () => {
    const { user } = show("config")
    await findField("Read queues")
    number("Read queues", "9")
    await user.click(button("Cancel"))
    expect(field("Read queues").value).toBe("4")
    expect(requests(CHANGE)).toHaveLength(0)
  })

  it("warn before messages in queues are cut off, and not when queues are added", async () => {
    const WARNING = "Messages in the removed queues can no longer be consumed."
    show("config")
    await findField("Read queues")
    number("Read queues", "5")
    expect(screen.queryByText(WARNING)).toBeNull()
    number("Read queues", "3")
    expect(screen.getByText(WARNING)).toBeTruthy()
  })

  it("show at the field what the API refuses, and keep what was typed", async () => {
    refuseFields(CHANGE, { read_queues: "At most 64 here." })
    const { user } = show("config")
    await findField("Read queues")
    number("Read queues", "100")
    await user.click(button("Change 1 field"))
    await waitFor(() => expect(errorOf(field("Read queues"))).toBe("At most 64 here."))
    expect(field("Read queues").value).toBe("100")
    expect(errorOf(field("Write queues"))).toBeUndefined()
  })

  it("are read again when somebody else changed them meanwhile, so that the next try can succeed", async () => {
    refuse(CHANGE, 412, "CHANGED", "The topic was changed since it was read.")
    const { user } = show("config")
    await findField("Read queues")
    number("Read queues", "8")
    answer(ONE, topic("orders", { write_queues: 16 }), 200, { ETag: '"v2"' })
    await user.click(button("Change 1 field"))
    expect(await screen.findByText("Topic orders was not changed")).toBeTruthy()
    await waitFor(() => expect(field("Write queues").value).toBe("16"))
    expect(field("Read queues").value).toBe("8")
    answer(CHANGE, { ...topic("orders", { read_queues: 8, write_queues: 16 }), brokers: [DONE] })
    await user.click(button("Change 1 field"))
    expect(await screen.findByText("Topic orders was changed")).toBeTruthy()
    expect(requests(CHANGE).map(({ headers }) => headers.get("If-Match"))).toEqual(['"v1"', '"v2"'])
  })

  it("that one broker did not take are told by broker", async () => {
    answer(CHANGE, { ...topic("orders"), brokers: [DONE, AWAY] }, 207)
    const { user } = show("config")
    await findField("Read queues")
    number("Read queues", "8")
    await user.click(button("Change 1 field"))
    expect(await screen.findByText("broker-a made the change")).toBeTruthy()
    expect(screen.getByText("broker-b did not: broker-b is not listed by any name server")).toBeTruthy()
  })
})

describe("deleting a topic", () => {
  async function open(shown: ReturnType<typeof show>) {
    await screen.findByText("its messages")
    await shown.user.click(screen.getByLabelText("More actions"))
    await shown.user.click(await screen.findByText("Delete topic"))
    return within(await screen.findByRole("dialog"))
  }

  it("first says what goes with it, then wants the name, and takes the topic that was shown", async () => {
    answer(IMPACT, { groups: ["billing", "shipping"], hidden_groups: 0, messages: 1_200, scheduled: 0 }, 200, { ETag: '"seen"' })
    answer(DELETE, null, 204)
    const shown = show()
    const dialog = await open(shown)
    expect(await dialog.findByText("1,200 messages can no longer be read.")).toBeTruthy()
    expect(dialog.getByText("2 groups consume from it and lose their positions: billing, shipping.")).toBeTruthy()
    const remove = dialog.getByRole<HTMLButtonElement>("button", { name: "Delete orders" })
    expect(remove.disabled).toBe(true)
    fireEvent.change(dialog.getByLabelText("Type orders to continue"), { target: { value: "Orders" } })
    expect(remove.disabled).toBe(true)
    fireEvent.change(dialog.getByLabelText("Type orders to continue"), { target: { value: "orders" } })
    await shown.user.click(remove)
    expect(await screen.findByText("Topic orders was deleted")).toBeTruthy()
    expect(requests(DELETE).map(({ headers }) => headers.get("If-Match"))).toEqual(['"seen"'])
    await waitFor(() => expect(shown.address()).toBe("/topics"))
  })

  it("takes nobody's position where nobody consumes", async () => {
    answer(IMPACT, { groups: [], hidden_groups: 0, messages: 1, scheduled: 0 })
    const dialog = await open(show())
    expect(await dialog.findByText("1 message can no longer be read.")).toBeTruthy()
    expect(dialog.getByText("No group consumes from it.")).toBeTruthy()
  })

  it("says that it is not known what goes with it, and does not call it nothing", async () => {
    refuse(IMPACT, 503, "BROKER_UNREACHABLE", "No broker answered.")
    const dialog = await open(show())
    expect(await dialog.findByText("It is not known what the deletion would remove")).toBeTruthy()
    expect(dialog.queryByText("No group consumes from it.")).toBeNull()
  })

  it("sends nothing when it is thought better of", async () => {
    answer(IMPACT, { groups: [], hidden_groups: 0, messages: 0, scheduled: 0 })
    const shown = show()
    const dialog = await open(shown)
    await shown.user.click(dialog.getByRole("button", { name: "Keep it" }))
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull())
    expect(requests(DELETE)).toHaveLength(0)
    expect(shown.address()).toBe("/topics/orders")
  })

  it("that was refused leaves the page open, with the reason", async () => {
    answer(IMPACT, { groups: [], hidden_groups: 0, messages: 0, scheduled: 0 })
    refuse(DELETE, 412, "CHANGED", "The topic was changed since its impact was shown.")
    const shown = show()
    const dialog = await open(shown)
    fireEvent.change(dialog.getByLabelText("Type orders to continue"), { target: { value: "orders" } })
    await shown.user.click(dialog.getByRole("button", { name: "Delete orders" }))
    expect(await screen.findByText("Topic orders was not deleted")).toBeTruthy()
    expect(screen.getByText(/The topic was changed since its impact was shown\./)).toBeTruthy()
    expect(shown.address()).toBe("/topics/orders?ask=delete")
  })
})

describe.each([
  ["viewer", reader(), { Produce: false, "Replay a range": false, "Delete topic": false }],
  ["developer", admin({ role: "developer", rights: ["produce", "consume", "read"] }), { Produce: true, "Replay a range": false, "Delete topic": false }],
  ["operator", admin({ role: "operator", rights: ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs"] }), { Produce: true, "Replay a range": true, "Delete topic": true }],
] as const)("for a %s", (_role, me, may) => {
  let shown: ReturnType<typeof show>

  beforeEach(() => {
    shown = show("config", { me })
  })

  it("the page of a topic shows every action, and locks those without the right", async () => {
    const queues = await findField("Read queues")
    await shown.user.click(screen.getByLabelText("More actions"))
    await screen.findByText("Delete topic")
    const inTheHead = { Produce: !(screen.getAllByText("Produce")[0]?.closest("button")?.disabled ?? true) }
    expect({ ...inTheHead, "Replay a range": !button("Replay a range").disabled, "Delete topic": !button("Delete topic").disabled }).toEqual(may)
    expect(queues.closest("fieldset") === null).toBe(may["Delete topic"])
  })
})
