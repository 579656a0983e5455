import { screen } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { messageSummary, search } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { MessagesPage } from "./messages-page"

const LIST = "GET /api/v1/me/searches"
const paid = { id: 7, name: "paid", cluster: "local", query: { mode: "key", topic: "orders", key: "A17", span: "24h" }, created_at: "2026-11-21T06:00:00Z", updated_at: "2026-11-21T06:00:00Z", etag: '"e7"' }

beforeEach(() => {
  answer("GET /api/v1/clusters/local/messages:search", search({ items: [messageSummary("AC11")] }))
})

describe("saved searches", () => {
  it("gives the search of the address a name", async () => {
    answer(LIST, { items: [] })
    answer("POST /api/v1/me/searches", paid, 201)
    const { user, address } = renderApp(<MessagesPage cluster="local" topics={["orders"]} />, { at: "/messages?topic=orders&key=A17&span=24h&open=AC11" })
    await user.click(await screen.findByRole("button", { name: "Saved searches" }))
    await user.click(await screen.findByText("Save this search…"))
    await user.type(await screen.findByLabelText("Name"), "paid")
    await user.click(screen.getByRole("button", { name: "Save search" }))
    expect(await screen.findByText("“paid” was saved")).toBeTruthy()
    expect(requests("POST /api/v1/me/searches")[0]?.body).toEqual({ name: "paid", cluster: "local", query: paid.query })
    expect(address()).toContain("saved=7")
  })

  it("opens, changes and removes one", async () => {
    answer(LIST, { items: [paid] })
    answer("PATCH /api/v1/me/searches/7", paid)
    answer("DELETE /api/v1/me/searches/7", undefined, 204)
    const { user, address } = renderApp(<MessagesPage cluster="local" topics={["orders"]} />, { at: "/messages?topic=orders&key=A18&saved=7" })
    await user.click(await screen.findByRole("button", { name: "paid" }))
    await user.click(await screen.findByText("Save over “paid”"))
    expect(await screen.findByText("“paid” was changed")).toBeTruthy()
    const [change] = requests("PATCH /api/v1/me/searches/7")
    expect(change?.body).toEqual({ query: { mode: "key", topic: "orders", key: "A18", span: "3d" } })
    expect(change?.headers.get("If-Match")).toBe('"e7"')
    await user.click(screen.getByRole("button", { name: "paid" }))
    await user.click(await screen.findByText("paid", { selector: ".mantine-Menu-itemLabel" }))
    expect(address()).toContain("key=A17")
    await user.click(screen.getByRole("button", { name: "paid" }))
    await user.click(await screen.findByText("Remove “paid”"))
    expect(await screen.findByText("“paid” was removed")).toBeTruthy()
  })
})
