import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { Ability, Cluster, ProbeReport } from "@/lib/api-types"
import { page, reader } from "@/testing/factories"
import { errorOf, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { ClustersPage } from "./clusters-page"

const REASON = "name server 10.7.10.11:9876 refused the connection"
const NAMES = ["lease", "batch_ack", "timer", "transaction", "sql", "index", "producers", "replicas"] as const
const cluster = (overrides: Partial<Cluster> = {}): Cluster => ({ name: "local", kind: "embedded", name_servers: ["127.0.0.1:9876"], address_map: {}, access_key: null, tls: null, brokers: 1, brokers_answering: 1, version: "V4_9_8", reachable: true, reason: null, same_brokers: [], etag: '"v1"', ...overrides })
const west = cluster({ name: "west", kind: "rocketmq", brokers: null, brokers_answering: null, version: null, reachable: false, reason: REASON })
const able = (overrides: Partial<Record<string, Partial<Ability>>> = {}): Ability[] => NAMES.map((name) => ({ name, state: "yes", value: null, reason: null, ...overrides[name] }))
const unknown = NAMES.map((name): Ability => ({ name, state: "unknown", value: null, reason: REASON }))
const report = (overrides: Partial<ProbeReport> = {}): ProbeReport => ({
  steps: [{ step: "reach", state: "partly", passed: 1, tried: 2, duration_ms: 3_000, findings: [{ subject: "b (0) 10.6.10.23:10911", ok: false, finding: "b at 10.6.10.23:10911 refused the connection", duration_ms: 4 }] }],
  brokers: [
    { name: "a", broker_id: 0, announced: "10.6.10.22:10911", connected_to: "10.6.10.22:10911", reachable: true, version: "V4_9_8", clock_difference_ms: 0 },
    { name: "b", broker_id: 0, announced: "10.6.10.23:10911", connected_to: "10.6.10.23:10911", reachable: false, version: null, clock_difference_ms: null },
  ],
  brokers_reachable: 1,
  capabilities: able(),
  same_brokers: [],
  ...overrides,
})
const rowOf = async (name: string) => within((await screen.findByText(name, { selector: "td *" })).closest("tr") as HTMLElement)

beforeEach(() => {
  answer("GET /api/v1/clusters", page([cluster(), west]))
  answer("GET /api/v1/clusters/local", { ...cluster(), capabilities: able({ sql: { state: "no" }, timer: { state: "partly", value: "18" } }) })
  answer("GET /api/v1/clusters/west", { ...west, capabilities: unknown })
})

describe("the page of the clusters", () => {
  it("writes nothing healthy of a cluster that is silent", async () => {
    renderApp(<ClustersPage />)
    const row = await rowOf("west")
    expect(await row.findAllByLabelText(/refused the connection/)).toHaveLength(5)
    expect(row.queryByText("Answers")).toBeNull()
    expect(screen.getByText("1+")).toBeTruthy()
    expect(screen.getByText("1 cluster unknown")).toBeTruthy()
  })

  it("does not say that a cluster answers while no name server of it does", async () => {
    const half = { ...west, brokers: 1, brokers_answering: 1, version: "V4_9_8", reachable: true }
    answer("GET /api/v1/clusters", page([cluster(), half]))
    answer("GET /api/v1/clusters/west", { ...half, capabilities: unknown })
    renderApp(<ClustersPage />)
    const row = await rowOf("west")
    expect(row.queryByText("Answers")).toBeNull()
    expect(row.getByText("no name server answers").closest("[title]")?.getAttribute("title")).toBe(REASON)
    expect(screen.getByText("1 of 2 clusters answer")).toBeTruthy()
    expect(screen.queryByText("1 cluster unknown")).toBeNull()
  })

  it("counts the brokers that answer where one does not", async () => {
    const half = { ...west, brokers: 2, brokers_answering: 1, version: "V4_9_8", reachable: true }
    answer("GET /api/v1/clusters", page([cluster(), half]))
    answer("GET /api/v1/clusters/west", { ...half, capabilities: unknown })
    renderApp(<ClustersPage />)
    const row = await rowOf("west")
    expect(row.queryByText("Answers")).toBeNull()
    expect(row.getByText("1 of 2 broker processes answer").closest("[title]")?.getAttribute("title")).toBe(REASON)
    expect(screen.getByText("2 of 2 clusters answer")).toBeTruthy()
  })

  it("says in words what cannot be done where", async () => {
    renderApp(<ClustersPage />)
    expect(await screen.findByText("Filters by tag work; SQL92 needs enablePropertyFilter.")).toBeTruthy()
    expect(screen.getByText("18 delay levels only; another delay is refused, not rounded.")).toBeTruthy()
    expect(await screen.findByText(`What it can do is not known: ${REASON}`)).toBeTruthy()
  })

  it("tries a connection before a cluster is added, and names the compromise", async () => {
    answer("POST /api/v1/clusters:probe", report())
    answer("POST /api/v1/clusters", west, 201)
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Add cluster" }))
    await user.type(await screen.findByLabelText(/^Name\b(?! servers)/), "west")
    await user.type(screen.getByLabelText(/^Name servers/), "10.7.10.11:9876;10.7.10.12:9876")
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    const add = await screen.findByRole("button", { name: "Add with 1 of 2 brokers" })
    expect(screen.getByText(/Not reached from this host: b \(10.6.10.23:10911\)/)).toBeTruthy()
    expect(requests("POST /api/v1/clusters")).toHaveLength(0)
    await waitFor(async () => {
      await user.click(add)
      expect(requests("POST /api/v1/clusters")[0]?.body).toEqual({ name: "west", name_servers: ["10.7.10.11:9876", "10.7.10.12:9876"], address_map: {} })
    })
  })

  it("keeps the stored key of a client certificate, and never shows it", async () => {
    const tls = { authorities: "CA", certificate: "CERT", has_key: true, check_host: true }
    answer("GET /api/v1/clusters", page([cluster(), { ...west, tls }]))
    answer("POST /api/v1/clusters:probe", report())
    answer("PATCH /api/v1/clusters/west", west)
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Edit west" }))
    expect((await screen.findByLabelText<HTMLTextAreaElement>(/^Key of the client certificate/)).value).toBe("")
    await user.click(screen.getByLabelText(/^Check the host name/))
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    const save = await screen.findByRole("button", { name: "Save with 1 of 2 brokers" })
    const sent = { authorities: "CA", certificate: "CERT", check_host: false }
    await waitFor(async () => {
      await user.click(save)
      expect(requests("PATCH /api/v1/clusters/west")[0]?.body).toMatchObject({ tls: sent })
    })
    expect(requests("POST /api/v1/clusters:probe")[0]?.body).toMatchObject({ tls: sent, cluster: "west" })
  })

  it("connects with TLS where it is wanted", async () => {
    answer("POST /api/v1/clusters:probe", report())
    answer("POST /api/v1/clusters", west, 201)
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Add cluster" }))
    await user.type(await screen.findByLabelText(/^Name\b(?! servers)/), "west")
    await user.type(screen.getByLabelText(/^Name servers/), "10.7.10.11:9876")
    await user.click(screen.getByLabelText(/^Connect with TLS/))
    await user.type(screen.getByLabelText(/^Trusted certificates/), "CA")
    await user.type(screen.getByLabelText(/^Client certificate/), "CERT")
    await user.type(screen.getByLabelText(/^Key of the client certificate/), "SECRET")
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    const add = await screen.findByRole("button", { name: "Add with 1 of 2 brokers" })
    await waitFor(async () => {
      await user.click(add)
      expect(requests("POST /api/v1/clusters")[0]?.body).toMatchObject({ tls: { authorities: "CA", certificate: "CERT", key: "SECRET", check_host: true } })
    })
  })

  it("says at the field which certificate is none", async () => {
    refuseFields("POST /api/v1/clusters:probe", { tls: "certificates of authorities: authorities: no certificate in PEM form" })
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Add cluster" }))
    await user.type(await screen.findByLabelText(/^Name\b(?! servers)/), "west")
    await user.type(screen.getByLabelText(/^Name servers/), "10.7.10.11:9876")
    await user.click(screen.getByLabelText(/^Connect with TLS/))
    await user.type(screen.getByLabelText(/^Trusted certificates/), "not a pem")
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    await waitFor(() => expect(errorOf(screen.getByLabelText(/^Trusted certificates/))).toBe("no certificate in PEM form"))
    expect(errorOf(screen.getByLabelText(/^Client certificate/))).toBeUndefined()
  })

  it("says at the field which name server is no address, and tries nothing", async () => {
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Add cluster" }))
    await user.type(await screen.findByLabelText(/^Name\b(?! servers)/), "west")
    const servers = screen.getByLabelText(/^Name servers/)
    await user.type(servers, "10.7.10.11:9876;abc:99999{Enter}")
    expect(await screen.findByText("abc:99999 does not have the form host:port")).toBeTruthy()
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Try the connection" }).disabled).toBe(true)
    await user.type(servers, "{Backspace}")
    expect(screen.queryByText(/does not have the form/)).toBeNull()
    expect(requests("POST /api/v1/clusters:probe")).toHaveLength(0)
  })

  it("counts what the cluster can do, says what it cannot, and whose brokers these are", async () => {
    const step = { step: "abilities", state: "passed", passed: 8, tried: 8, duration_ms: 4, findings: [] } satisfies ProbeReport["steps"][number]
    answer("POST /api/v1/clusters:probe", report({ steps: [step], capabilities: able({ sql: { state: "no" }, transaction: { state: "no" } }), same_brokers: [{ cluster: "local", addresses: ["10.6.10.22:10911"] }] }))
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Add cluster" }))
    await user.type(await screen.findByLabelText(/^Name\b(?! servers)/), "east")
    await user.type(screen.getByLabelText(/^Name servers/), "10.7.10.11:9876")
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    expect(await screen.findByText(/^6 of 8/)).toBeTruthy()
    expect(screen.getByText("Transactions · Transactional messages are refused.")).toBeTruthy()
    expect(screen.getByText(/^The cluster local of this console has the same brokers: 10.6.10.22:10911/)).toBeTruthy()
    expect(screen.getByRole("button", { name: "Add with 1 of 2 brokers" })).toBeTruthy()
  })

  it("asks for another try once an address is mapped", async () => {
    answer("POST /api/v1/clusters:probe", report())
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Edit west" }))
    await user.click(await screen.findByRole("button", { name: "Try the connection" }))
    await user.type(await screen.findByLabelText("Connect instead of 10.6.10.23:10911 to"), "gate:20911")
    await waitFor(async () => {
      await user.click(screen.getByRole("button", { name: "Try the connection" }))
      expect(requests("POST /api/v1/clusters:probe").at(-1)?.body).toMatchObject({ address_map: { "10.6.10.23:10911": "gate:20911" } })
    })
  })

  it("keeps a stored secret, replaces it, and sends none without an account", async () => {
    const signed = cluster({ name: "west", kind: "rocketmq", access_key: "gantry-reader" })
    answer("GET /api/v1/clusters", page([signed]))
    answer("POST /api/v1/clusters:probe", report())
    const { user } = renderApp(<ClustersPage />)
    await user.click(await screen.findByRole("button", { name: "Edit west" }))
    expect(await screen.findByText("stored; fill in to replace it")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Try the connection" }))
    await waitFor(() => expect(requests("POST /api/v1/clusters:probe").at(-1)?.body).toMatchObject({ access_key: "gantry-reader", cluster: "west" }))
    // A try is not begun while another one is under way.
    expect(await screen.findByLabelText("Connect instead of 10.6.10.23:10911 to")).toBeTruthy()
    await user.type(screen.getByLabelText(/^Secret key/), "another-secret")
    // The form takes no second press within a moment of the first.
    await waitFor(async () => {
      await user.click(await screen.findByRole("button", { name: "Try the connection" }))
      expect(requests("POST /api/v1/clusters:probe").at(-1)?.body).toMatchObject({ access_key: "gantry-reader", secret_key: "another-secret" })
    })
  })

  it("changes nothing without the right, and says when the list cannot be read", async () => {
    const { unmount } = renderApp(<ClustersPage />, { me: reader() })
    expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Add cluster" })).disabled).toBe(true)
    unmount()
    refuse("GET /api/v1/clusters", 503, "BROKER_UNREACHABLE", "Nobody answers.")
    renderApp(<ClustersPage />)
    expect(await screen.findByText("The clusters could not be read")).toBeTruthy()
  })
})
