import { act, screen, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { broker, overview, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { BrokerPage } from "./broker-page"

const OVERVIEW = "GET /api/v1/clusters/local/overview"
const REASON = "broker-b at 10.0.0.2:10911 refused the connection"
const silent = broker("broker-b", { address: "10.0.0.2:10911", reachable: false, reason: REASON, in_rate: null, out_rate: null, uptime_ms: null, disk_used_ratio: null, commit_log_bytes: null })
const rowOf = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLElement)

beforeEach(() => {
  FakeSocket.all = []
  answer("GET /api/v1/clusters", page([{ name: "local", kind: "embedded", name_servers: ["127.0.0.1:9876"], brokers: 1, version: null, reachable: true, reason: null, etag: '"1"' }]))
})

describe("the page of the brokers", () => {
  it("gives each broker its role, state and size", async () => {
    answer(OVERVIEW, overview({ brokers: [broker("broker-a", { commit_log_bytes: 2_048 }), broker("broker-a-2", { address: "10.0.0.3:10911", broker_id: 1, role: "slave" })] }))
    renderApp(<BrokerPage cluster="local" />)
    const leader = await rowOf("broker-a")
    for (const words of ["Master", "Answers", "2,048 B"]) expect(leader.getByText(words)).toBeTruthy()
    expect((await rowOf("broker-a-2")).getByText("Slave 1")).toBeTruthy()
  })

  it("calls a replica by the id that controllers gave it, also while it is master, and shows one that is gone", async () => {
    const gone = broker("broker-a", { address: "10.0.0.9:10911", broker_id: 1, replica_id: 1, role: "slave", reachable: false, reason: "broker-a 1 is not listed by any name server" })
    answer(OVERVIEW, overview({ brokers: [broker("broker-a", { replica_id: 2 }), gone], brokers_answering: 1 }))
    renderApp(<BrokerPage cluster="local" />)
    expect((await rowOf("10.0.0.1:10911")).getByText("Master, replica 2")).toBeTruthy()
    const row = await rowOf("10.0.0.9:10911")
    expect(row.getByText("Slave, replica 1")).toBeTruthy()
    expect(row.getByText("broker-a 1 is not listed by any name server")).toBeTruthy()
  })

  it("says of a replica that is held why it is away, and that it does not come back by itself", async () => {
    const away = "the master has this log up to 80 only, but every replica had it up to 120; replica 1 does not join by itself: keep a copy of its folder, remove it, empty the folder and start it again"
    const unknown = { in_rate: null, out_rate: null, commit_log_bytes: null, disk_used_ratio: null, uptime_ms: null }
    const held = broker("broker-a", {
      ...unknown,
      address: "10.0.0.9:10911",
      replica_id: 1,
      role: "slave",
      reachable: false,
      reason: away,
      held: { code: "ahead", reason: "the master has this log up to 80 only, but every replica had it up to 120", common_end: 80, more_bytes: 40, advice: "keep a copy of its folder" },
    })
    answer(OVERVIEW, overview({ brokers: [broker("broker-a", { replica_id: 2 }), held], brokers_answering: 1 }))
    renderApp(<BrokerPage cluster="local" />)
    const row = await rowOf("10.0.0.9:10911")
    expect(row.getByText("Stopped for good: its log goes on beyond the master's")).toBeTruthy()
    expect(row.getAllByLabelText(/^Not known: .+; replica 1 does not join by itself: keep a copy of its folder/).length).toBeGreaterThan(2)
  })

  it("writes what a silent broker would say as unknown with the reason, never as zero", async () => {
    answer(OVERVIEW, overview({ brokers: [broker("broker-a"), silent], brokers_answering: 1, missing: [{ broker: "broker-b", reason: REASON, since: null }] }))
    renderApp(<BrokerPage cluster="local" />)
    const row = await rowOf("broker-b")
    expect(row.getAllByLabelText(`Not known: ${REASON}`).length).toBeGreaterThan(2)
    expect(row.queryByText("0")).toBeNull()
    expect(row.getByText(REASON)).toBeTruthy()
  })

  it("marks a sum that lacks a broker as incomplete", async () => {
    answer(OVERVIEW, overview({ brokers: [broker("broker-a", { commit_log_bytes: 2_048 }), silent], brokers_answering: 1 }))
    renderApp(<BrokerPage cluster="local" />)
    expect(await screen.findByText("2,048 B+")).toBeTruthy()
    expect(screen.getByText("1 broker unknown")).toBeTruthy()
  })

  it("offers to forget a broker only where one is missed, and not to a viewer", async () => {
    answer(OVERVIEW, overview({ brokers: [broker("broker-a")] }))
    const { unmount } = renderApp(<BrokerPage cluster="local" />)
    await rowOf("broker-a")
    expect(screen.queryByText("Forget")).toBeNull()
    unmount()
    answer(OVERVIEW, overview({ brokers: [broker("broker-a"), silent], brokers_answering: 1 }))
    renderApp(<BrokerPage cluster="local" />, { me: reader() })
    expect((await screen.findByText("Forget")).closest("button")?.disabled).toBe(true)
  })

  it.each([["yes", "Gantry"], ["no", "Apache RocketMQ"], ["partly", "Gantry and Apache RocketMQ"]])("tells an added cluster by what its brokers said: %s", async (state, words) => {
    answer(OVERVIEW, overview({ brokers: [broker("broker-a")] }))
    answer("GET /api/v1/clusters", page([{ name: "local", kind: "rocketmq", name_servers: ["127.0.0.1:9876"], brokers: 1, version: "V4_9_8", reachable: true, reason: null, etag: '"1"' }]))
    answer("GET /api/v1/clusters/local", { capabilities: [{ name: "purge", state, value: null, reason: null }] })
    renderApp(<BrokerPage cluster="local" />)
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it("moves with the live channel", async () => {
    answer(OVERVIEW, overview({ in_rate: 10 }))
    renderApp(<BrokerPage cluster="local" />)
    await rowOf("broker-a")
    act(() => {
      FakeSocket.last.greet()
      FakeSocket.last.state("overview:local", 1, overview({ brokers: [broker("broker-a", { in_rate: 777 })] }))
    })
    expect(await screen.findByText("777")).toBeTruthy()
    expect(requests(OVERVIEW)).toHaveLength(1)
  })

  it("calls the brokers unknown, not none, while no name server answers", async () => {
    answer(OVERVIEW, overview({ brokers: [], brokers_answering: 0, name_server_reason: "name server mq:9876 refused the connection" }))
    renderApp(<BrokerPage cluster="local" />)
    expect(await screen.findByText("It is not known which brokers exist")).toBeTruthy()
    expect(screen.getByText("name server mq:9876 refused the connection")).toBeTruthy()
    expect(screen.queryByText("No broker is registered")).toBeNull()
  })

  it("says that no broker is registered, or that the cluster could not be read", async () => {
    answer(OVERVIEW, overview({ brokers: [], brokers_answering: 0 }))
    const { unmount } = renderApp(<BrokerPage cluster="local" />)
    expect(await screen.findByText("No broker is registered")).toBeTruthy()
    unmount()
    refuse(OVERVIEW, 503, "NO_ROUTE", "No name server answers.")
    renderApp(<BrokerPage cluster="local" />)
    expect(await screen.findByText("The cluster could not be read")).toBeTruthy()
  })
})
