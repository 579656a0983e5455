import { screen, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { group } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { ClientsBrief, GroupClients } from "./group-clients"
import { GroupFigures } from "./group-figures"

const SINCE = "2026-11-21T06:00:00Z"

it("gives who leases over HTTP a row: token, user, address, since when, what is in flight", async () => {
  const native = { client_id: "10.0.0.9@4711", address: "10.0.0.9:5000", language: "JAVA", version: "V5_3_1", protocol: "native", queues: 4, user: null, since: null, in_flight: null, last_receive_at: null }
  const caller = { client_id: "billing-token", address: "10.0.0.7", language: null, version: null, protocol: "http_lease", queues: null, user: "olga", since: SINCE, in_flight: 1_240, last_receive_at: SINCE }
  answer("GET /api/v1/clusters/local/groups/billing/clients", { items: [native, caller], missing: [], callers_known: true })
  renderApp(<GroupClients cluster="local" group="billing" />)
  const row = within((await screen.findByText("billing-token (olga)")).closest("tr") as HTMLElement)
  for (const words of ["HTTP lease", "10.0.0.7", "1,240"]) expect(row.getByText(words)).toBeTruthy()
  expect(document.body.textContent).not.toContain("null")
})

it("does not say that nobody is connected while a broker or Redis is silent", async () => {
  answer("GET /api/v1/clusters/local/groups/billing/clients", { items: [], missing: [{ broker: "broker-b", reason: "broker-b refused the connection", since: null }], callers_known: false })
  renderApp(<><GroupClients cluster="local" group="billing" /><ClientsBrief cluster="local" group="billing" /></>)
  expect(await screen.findAllByText("broker-b is not included: broker-b refused the connection")).toHaveLength(2)
  expect(screen.getAllByText(/Redis does not answer/)).toHaveLength(2)
  expect(screen.getByText("0+")).toBeTruthy()
  expect(screen.queryByText("No client is connected")).toBeNull()
})

it("counts callers over HTTP among those who consume", async () => {
  const caller = { caller: "billing-token", user: "olga", kind: "token" as const, address: "10.0.0.7", since: SINCE, in_flight: 3, last_receive_at: SINCE }
  renderApp(<GroupFigures group={group("billing", { clients: 0, lease_consumers: [caller] })} />)
  expect(await screen.findByText("by 1 caller over HTTP")).toBeTruthy()
  expect(screen.queryByText("by 0 clients")).toBeNull()
})
