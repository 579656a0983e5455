import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { broker, overview } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { ClusterMenu } from "./cluster-menu"

const REASON = "broker-a at 10.0.0.1:10911 refused the connection"
const listed = (reachable: boolean) => ({
  items: [{ name: "local", kind: "embedded", name_servers: [], brokers: 1, version: null, reachable, reason: reachable ? null : REASON }],
  next_cursor: null,
  total: 1,
})

it("says that the broker is silent as soon as it is, and why in full on hover", async () => {
  answer("GET /api/v1/clusters", listed(true))
  answer("GET /api/v1/clusters/local/overview", overview({ brokers: [broker("broker-a", { reachable: false, reason: REASON })], brokers_answering: 0, unknown_reason: REASON }))
  renderApp(<ClusterMenu />)
  expect(await screen.findByText("does not answer")).toBeTruthy()
  expect(screen.getByTitle(/refused the connection/)).toBeTruthy()
})

it("keeps no failure of a broker that answers again", async () => {
  answer("GET /api/v1/clusters", listed(false))
  answer("GET /api/v1/clusters/local/overview", overview({ brokers: [broker("broker-a")], brokers_answering: 1 }))
  renderApp(<ClusterMenu />)
  expect(await screen.findByText("embedded broker")).toBeTruthy()
  expect(screen.queryByTitle(/refused/)).toBeNull()
})

it("counts the brokers that answer where one does not, and blames no name server", async () => {
  answer("GET /api/v1/clusters", listed(true))
  const brokers = [broker("broker-a"), broker("broker-b", { reachable: false, reason: REASON })]
  answer("GET /api/v1/clusters/local/overview", overview({ brokers, brokers_answering: 1, unknown_reason: REASON }))
  renderApp(<ClusterMenu />)
  expect(await screen.findByText("1 of 2 broker processes answer")).toBeTruthy()
  expect(screen.queryByText("no name server answers")).toBeNull()
})
