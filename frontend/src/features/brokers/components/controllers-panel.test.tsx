import { screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { ControllerState, Controllers } from "@/lib/api-types"
import { AT } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { engineServers } from "../engine-servers"
import { ControllersPanel } from "./controllers-panel"

const LINE = "GET /api/v1/clusters/local/controllers"

const controller = (address: string, known: Partial<ControllerState> = {}): ControllerState => ({
  address, reachable: true, reason: null, leading: false, leading_ms: null, led_since: null, engine: "etcd", engine_version: "3.4.23", members: [], revision: 7,
  size_bytes: 81_920, quota_bytes: 2_000_000, alarms: [], last_decision_ms: 12, names: ["b"], set_back: [], unsettled: [], age_ms: 900, conflicts: 0, unsettled_count: 0, ...known,
})

const show = (controllers: ControllerState[], leader: string | null = "n1:9876") => {
  answer(LINE, { at: AT, leader, controllers } satisfies Controllers)
  renderApp(<ControllersPanel cluster="local" />)
}

const rowOf = async (words: string) => within((await screen.findByText(words)).closest("tr") as HTMLElement)

describe("the controllers of a cluster", () => {
  it("tell who leads since when, what keeps their decisions, and how long the last one took", async () => {
    show([controller("n1:9876", { leading: true, led_since: AT }), controller("n2:9876", { last_decision_ms: null })])
    const leader = await rowOf("n1:9876")
    for (const words of ["Leads", "etcd 3.4.23", "900 ms", "12 ms", "82 kB of 2.0 MB"]) expect(leader.getByText(words)).toBeTruthy()
    expect(leader.getByRole("time")).toBeTruthy()
    const other = await rowOf("n2:9876")
    expect(other.getByText("Stands by")).toBeTruthy()
    expect(other.getByLabelText("Not known: it has kept no decision since it started")).toBeTruthy()
  })

  it("are unknown where they are silent or do not tell, never zero", async () => {
    const reason = "name server n2:9876 refused the connection"
    const silent = controller("n2:9876", { reachable: false, reason, engine: null, engine_version: null, size_bytes: null, alarms: null, last_decision_ms: null, names: [], age_ms: null })
    show([controller("n1:9876", { leading: true, engine: "file", engine_version: null, size_bytes: null }), silent])
    const row = await rowOf("n2:9876")
    expect(row.getAllByLabelText(`Not known: ${reason}`).length).toBeGreaterThan(3)
    expect(row.queryByText("0")).toBeNull()
    const leader = await rowOf("n1:9876")
    expect(leader.getByText("file")).toBeTruthy()
    expect(leader.getByLabelText("Not known: it does not tell since when it leads")).toBeTruthy()
  })

  it("say what keeps them from deciding", async () => {
    show([controller("n1:9876", { alarms: ["NOSPACE"], set_back: ["lost"], unsettled: ["b"] })], null)
    for (const words of [/^No controller leads/, /raised an alarm: NOSPACE/, /^The decisions about lost are older/, /^Whether the last decision about b was kept/]) expect(await screen.findByText(words)).toBeTruthy()
  })

  it("name the servers of etcd that one of them does not reach", async () => {
    const members = (reached: boolean | null) => [{ endpoint: "http://h1:2379", reached: true, since: null }, { endpoint: "http://h2:2379", reached, since: reached === false ? AT : null }, { endpoint: "http://h3:2379", reached: null, since: null }]
    show([controller("n1:9876", { leading: true, members: members(true) }), controller("n2:9876", { members: members(false) })])
    expect((await rowOf("http://h1:2379")).getByText("Answers")).toBeTruthy()
    expect((await rowOf("http://h2:2379")).getByText("not reached by n2:9876")).toBeTruthy()
    expect((await rowOf("http://h3:2379")).getByText("not tried yet")).toBeTruthy()
  })

  it("take no place where no name server hosts one", async () => {
    show([], null)
    await waitFor(() => expect(requests(LINE)).toHaveLength(1))
    expect(screen.queryByText("Controllers")).toBeNull()
  })

  it("count a server as missed since the earliest of those that miss it", () => {
    const member = (since: string) => [{ endpoint: "e", reached: false, since }]
    const found = engineServers([controller("a", { members: member("2026-05-01T10:00:00Z") }), controller("b", { members: member("2026-05-01T09:00:00Z") })])
    expect(found).toEqual([{ endpoint: "e", missedBy: ["a", "b"], since: "2026-05-01T09:00:00Z", isTried: true }])
  })
})
