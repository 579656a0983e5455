import { screen, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { group } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { GroupClients } from "./group-clients"
import { GroupFigures } from "./group-figures"

const SINCE = "2026-11-21T06:00:00Z"

it("gives who leases over HTTP a row: token, user, address, since when, what is in flight", async () => {
  const native = { client_id: "10.0.0.9@4711", address: "10.0.0.9:5000", language: "JAVA", version: "V5_3_1", protocol: "native", queues: 4, user: null, since: null, in_flight: null, last_receive_at: null }
  const caller = { client_id: "billing-token", address: "10.0.0.7", language: null, version: null, protocol: "http_lease", queues: null, user: "olga", since: SINCE, in_flight: 1_240, last_receive_at: SINCE }
  answer("GET /api/v1/clusters/local/groups/billing/clients", { items: [native, caller] })
  renderApp(<GroupClients cluster="local" group="billing" />)
  const row = within((await screen.findByText("billing-token (olga)")).closest("tr") as HTMLElement)
  for (const words of ["HTTP lease", "10.0.0.7", "1,240"]) expect(row.getByText(words)).toBeTruthy()
  expect(document.body.textContent).not.toContain("null")
})

it("counts callers over HTTP among those who consume", async () => {
  const caller = { caller: "billing-token", user: "olga", kind: "token" as const, address: "10.0.0.7", since: SINCE, in_flight: 3, last_receive_at: SINCE }
  renderApp(<GroupFigures group={group("billing", { clients: 0, lease_consumers: [caller] })} />)
  expect(await screen.findByText("by 1 caller over HTTP")).toBeTruthy()
  expect(screen.queryByText("by 0 clients")).toBeNull()
})
