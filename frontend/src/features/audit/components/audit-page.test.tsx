import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { admin, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { AuditPage } from "./audit-page"
import { RecentChanges } from "./recent-changes"
import { ResourceChanges } from "./resource-changes"

const AUDIT = "GET /api/v1/audit"
const operator = () => admin({ role: "operator", rights: ["produce", "consume", "read", "manage", "jobs"] })
const entry = {
  id: 1, at: "2026-11-21T06:00:00Z", actor: "olga", token: null, action: "topic.create", resource: "local/topics/orders",
  result: "ok", request_id: "r1", before: null, after: { name: "orders" },
}

it("is read by operators, as a list and as recent changes in sentences", async () => {
  answer(AUDIT, page([entry]))
  renderApp(<><AuditPage /><RecentChanges cluster="local" /></>, { me: operator() })
  expect(await screen.findByText("olga created topic orders")).toBeTruthy()
  expect(await screen.findByText("local/topics/orders")).toBeTruthy()
})

it("shows of a cluster what was changed in it alone, and says when a change of offsets was undone", async () => {
  answer(AUDIT, page([{ ...entry, action: "group.offsets", resource: "east/groups/billing/topics/orders", after: { mode: "undo", "broker-a/0": 7 } }]))
  renderApp(<RecentChanges cluster="east" />, { me: operator() })
  expect(await screen.findByText("olga undid a change of the offsets of group billing")).toBeTruthy()
  expect(requests(AUDIT).map(({ query }) => query.get("resource"))).toEqual(["east/*"])
  expect(screen.getByRole("link", { name: "All" }).getAttribute("href")).toBe("/audit?resource=east%2F*")
})

it("leads from the changes of a broker to all of them, with those of what is below it", async () => {
  answer(AUDIT, page([{ ...entry, action: "replica.promote", resource: "local/brokers/broker-a/replicas/2" }]))
  renderApp(<ResourceChanges resource="local/brokers/broker-a" />, { me: operator() })
  const all = await screen.findByRole("link", { name: "All" })
  expect(requests(AUDIT).map(({ query }) => query.get("resource"))).toEqual(["local/brokers/broker-a/*"])
  expect(all.getAttribute("href")).toBe("/audit?resource=local%2Fbrokers%2Fbroker-a%2F*")
})

it("shows those who may not read all of it what they did, and says so", async () => {
  answer(AUDIT, { ...page([entry]), limited: true })
  renderApp(<AuditPage />, { me: reader() })
  expect(await screen.findByText("what you did yourself: all of it needs the right to manage everything")).toBeTruthy()
  expect(screen.getByText("local/topics/orders")).toBeTruthy()
  expect(requests(AUDIT)).toHaveLength(1)
})
