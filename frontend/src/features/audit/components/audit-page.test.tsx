import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { admin, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { AuditPage } from "./audit-page"
import { RecentChanges } from "./recent-changes"

const AUDIT = "GET /api/v1/audit"
const operator = () => admin({ role: "operator", rights: ["produce", "consume", "read", "manage", "jobs"] })
const entry = {
  id: 1, at: "2026-11-21T06:00:00Z", actor: "olga", token: null, action: "topic.create", resource: "local/topics/orders",
  result: "ok", request_id: "r1", before: null, after: { name: "orders" },
}

it("is read by operators, as a list and as recent changes in sentences", async () => {
  answer(AUDIT, page([entry]))
  renderApp(<><AuditPage /><RecentChanges /></>, { me: operator() })
  expect(await screen.findByText("olga created topic orders")).toBeTruthy()
  expect(await screen.findByText("local/topics/orders")).toBeTruthy()
})

it("shows those who may not read all of it what they did, and says so", async () => {
  answer(AUDIT, { ...page([entry]), limited: true })
  renderApp(<AuditPage />, { me: reader() })
  expect(await screen.findByText("what you did yourself: all of it needs the right to manage everything")).toBeTruthy()
  expect(screen.getByText("local/topics/orders")).toBeTruthy()
  expect(requests(AUDIT)).toHaveLength(1)
})
