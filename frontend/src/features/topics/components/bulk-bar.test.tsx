import { screen, waitFor } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { page, topic } from "@/testing/factories"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { TopicsPage } from "./topics-page"

const LIST = "GET /api/v1/clusters/local/topics"
const DELETE = "POST /api/v1/clusters/local/topics:delete"
const UPDATE = "POST /api/v1/clusters/local/topics:update"
const item = (name: string, more: object = {}) => ({ name, outcome: "planned", reason: null, messages: 3, groups: [], hidden_groups: 0, scheduled: 0, changes: [], brokers: [], ...more })

beforeEach(() => {
  FakeSocket.all = []
})

async function choose(...names: string[]) {
  answer(LIST, page(names.map((name) => topic(name))))
  const app = renderApp(<TopicsPage cluster="local" />, { at: "/topics" })
  for (const name of names) await app.user.click(await screen.findByLabelText(`Choose ${name}`))
  return app
}

describe("several topics at once", () => {
  it("are deleted after one preview, and what was not deleted stays chosen with its reason", async () => {
    const { user } = await choose("orders", "payments")
    expect(screen.getByText("2 chosen")).toBeTruthy()
    const seen = [item("orders", { groups: ["billing"], hidden_groups: 2, scheduled: 4, transactions: 2 }), item("payments", { messages: null, groups: null, hidden_groups: null, scheduled: null })]
    answer(DELETE, { items: seen }, 200, { ETag: '"seen"' })
    await user.click(button("Delete"))
    expect(await screen.findByText(/consumed by billing/)).toBeTruthy()
    expect(screen.getByText(/consumed by 2 groups that you may not see/)).toBeTruthy()
    expect(screen.getByText(/messages not known/)).toBeTruthy()
    expect(screen.getByText(/2 open transactions can be committed only/)).toBeTruthy()
    expect(requests(DELETE).every(({ query }) => query.get("dry_run") === "true")).toBe(true)
    answer(DELETE, { items: [item("orders", { outcome: "done" }), item("payments", { outcome: "failed", reason: "broker-a timed out" })] }, 207)
    await user.type(await findField("Type 2 to continue"), "2{Enter}")
    expect(await screen.findByText(/broker-a timed out/)).toBeTruthy()
    const made = requests(DELETE).find(({ query }) => query.get("dry_run") === null)
    expect(made?.headers.get("If-Match")).toBe('"seen"')
    await waitFor(() => expect(screen.getByText("1 chosen")).toBeTruthy())
  })

  it("get the same settings once their effects were shown; nothing given, nothing sent", async () => {
    const { user } = await choose("orders", "payments")
    const effect = { before: {}, after: {}, effects: ["queues_added"] }
    answer(UPDATE, { items: [item("orders", { changes: [effect] }), item("payments")] }, 200, { ETag: '"seen"' })
    await user.click(button("Change settings"))
    await user.click(await screen.findByRole("button", { name: "Change 2 topics" }))
    expect(requests(UPDATE)).toHaveLength(0)
    await user.type(await findField("Write queues"), "8")
    expect(await screen.findByText("orders: it gets new queues")).toBeTruthy()
    answer(UPDATE, { items: [item("orders", { outcome: "done" }), item("payments", { outcome: "done" })] })
    await user.click(button("Change 2 topics"))
    expect(await screen.findByText("2 topics were changed")).toBeTruthy()
    await waitFor(() => expect(screen.queryByText("2 chosen")).toBeNull())
  })
})
