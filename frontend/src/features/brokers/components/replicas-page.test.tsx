import { screen, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { Replica } from "@/lib/api-types"
import { AT, replica } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse } from "@/testing/server"
import { ReplicasPage } from "./replicas-page"

const REPLICAS = "GET /api/v1/clusters/local/brokers/broker-a/replicas"
const rowOf = async (address: string) => within((await screen.findByText(address, { selector: "td *" })).closest("tr") as HTMLElement)

const open = (replicas: Replica[], master_id: number | null = 0) => {
  answer(REPLICAS, { broker: "broker-a", at: AT, mode: "static", master_id, failover: null, failover_reason: null, replicas })
  renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
}

describe("the page of one broker name", () => {
  it("gives each replica its role, and a slave what it lacks in bytes and time", async () => {
    open([replica(0), replica(1, { behind_bytes: 2_048, behind_ms: 40 })])
    const slave = await rowOf("10.0.0.2:10911")
    for (const words of ["Slave", "Answers", "2,048 B", "40 ms"]) expect(slave.getByText(words)).toBeTruthy()
    const master = await rowOf("10.0.0.1:10911")
    expect(master.getByText("Master")).toBeTruthy()
    expect(master.getAllByText("—")).toHaveLength(2)
    expect(screen.getByText("2 of 2 replicas answer")).toBeTruthy()
  })

  it("writes what a silent slave lacks as unknown with the reason, never as zero", async () => {
    const reason = "broker-a at 10.0.0.2:10911 refused the connection"
    open([replica(0), replica(1, { reachable: false, reason, log_end: null, behind_bytes: null, behind_ms: null, started_at: null })])
    const slave = await rowOf("10.0.0.2:10911")
    expect(slave.getAllByLabelText(`Not known: ${reason}`).length).toBeGreaterThan(1)
    expect(slave.queryByText("0")).toBeNull()
    expect(screen.getByText("not known of each replica")).toBeTruthy()
  })

  it("says why the time is not known while the bytes are: Apache RocketMQ does not tell it", async () => {
    open([replica(0), replica(1, { behind_bytes: 7, behind_ms: null })])
    expect((await rowOf("10.0.0.2:10911")).getByLabelText("Not known: Apache RocketMQ does not tell when its last message was stored")).toBeTruthy()
  })

  it("does not call a slave caught up that has no master", async () => {
    open([replica(1, { behind_bytes: null, behind_ms: null })], null)
    const slave = await rowOf("10.0.0.2:10911")
    expect(slave.getByLabelText("Not known: the master does not answer")).toBeTruthy()
    expect(screen.getAllByText("no name server lists a master").length).toBeGreaterThan(0)
  })

  it("says that the replicas could not be read", async () => {
    refuse(REPLICAS, 503, "NO_ROUTE", "No name server answers.")
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText("The replicas of broker-a could not be read")).toBeTruthy()
  })
})
