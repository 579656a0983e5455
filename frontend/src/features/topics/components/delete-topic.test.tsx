import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { topic } from "@/testing/factories"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { DeleteTopic } from "./delete-topic"

const IMPACT = "GET /api/v1/clusters/local/topics/orders/impact"
const REMOVE = "DELETE /api/v1/clusters/local/topics/orders"
const show = () => renderApp(<DeleteTopic cluster="local" topic="orders" onClose={vi.fn()} />, { at: "/topics/orders" })

describe("deleting a topic", () => {
  it("reads what would be lost without sending a deletion, however often it is read again", async () => {
    answer(IMPACT, { messages: 1_204, groups: ["billing", "risk"], hidden_groups: 0, scheduled: 0 })
    const { cache } = show()
    expect(await screen.findByText("1,204 messages can no longer be read.")).toBeTruthy()
    expect(screen.getByText("2 groups consume from it and lose their positions: billing, risk.")).toBeTruthy()
    await cache.invalidateQueries()
    await waitFor(() => expect(requests(IMPACT)).toHaveLength(2))
    expect(requests(REMOVE)).toHaveLength(0)
  })

  it.each([
    [3, "3 messages wait for their time and are dropped when that comes."],
    [null, "It is not known whether messages wait for their time; they would be dropped when that comes."],
  ])("says what waits for its time: %s", async (scheduled, words) => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 0, scheduled })
    show()
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it.each([
    [1, "1 open transaction is left: it can be committed only when the topic exists again."],
    [null, "It is not known whether transactions are open; they could be committed only when the topic exists again."],
  ])("says which transactions are left open: %s", async (transactions, words) => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 0, scheduled: 0, transactions })
    show()
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it("says that it is not known what is lost while a broker does not answer", async () => {
    answer(IMPACT, { messages: null, groups: [], hidden_groups: 0, scheduled: 0 })
    show()
    expect(await screen.findByText("How many messages can no longer be read is not known: a broker does not answer.")).toBeTruthy()
  })

  it("counts the groups that one may not see", async () => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 2, scheduled: 0 })
    show()
    expect(await screen.findByText("2 groups that you may not see consume from it and lose their positions.")).toBeTruthy()
    expect(screen.queryByText("No group consumes from it.")).toBeNull()
  })

  it("deletes the topic as it was when its loss was shown", async () => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 0, scheduled: 0 }, 200, { ETag: '"seen"' })
    answer(REMOVE, null, 204)
    const { user, address } = show()
    expect(await screen.findByText("No group consumes from it.")).toBeTruthy()
    await user.type(await findField("Type orders to continue"), "orders")
    await user.click(button("Delete orders"))
    expect(await screen.findByText("Topic orders was deleted")).toBeTruthy()
    expect(requests(REMOVE)).toHaveLength(1)
    expect(requests(REMOVE)[0]?.headers.get("If-Match")).toBe('"seen"')
    expect(requests(REMOVE)[0]?.query.get("dry_run")).toBeNull()
    await waitFor(() => expect(address()).toBe("/topics"))
  })

  it("forgets what was read of the topic: Back must not show it as it was", async () => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 0, scheduled: 0 })
    answer(REMOVE, null, 204)
    const { user, cache } = show()
    cache.setQueryData(["topics", "local", "one", "orders"], topic("orders"))
    await user.type(await findField("Type orders to continue"), "orders")
    await user.click(button("Delete orders"))
    await screen.findByText("Topic orders was deleted")
    await waitFor(() => expect(cache.getQueryData(["topics", "local", "one", "orders"])).toBeUndefined())
  })

  it("says that the loss is not known, instead of none", async () => {
    refuse(IMPACT, 503, "BROKER_UNREACHABLE", "No broker answered.")
    show()
    expect(await screen.findByText("It is not known what the deletion would remove")).toBeTruthy()
    expect(screen.queryByText("No group consumes from it.")).toBeNull()
  })

  it("stays when the topic has changed meanwhile", async () => {
    answer(IMPACT, { messages: 0, groups: [], hidden_groups: 0, scheduled: 0 })
    refuse(REMOVE, 412, "PRECONDITION_FAILED", "The topic was changed since it was read.")
    const { user, address } = show()
    await user.type(await findField("Type orders to continue"), "orders{Enter}")
    expect(await screen.findByText("Topic orders was not deleted")).toBeTruthy()
    expect(address()).toBe("/topics/orders")
  })
})
