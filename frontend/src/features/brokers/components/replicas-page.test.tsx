import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { Replica, Replicas } from "@/lib/api-types"
import { AT, reader, replica } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answerNoHistory, HISTORY, led, ledAnswer, PREVIEW, REPLICAS, rowOf, STATE } from "@/testing/replicas"
import { answer, refuse, requests } from "@/testing/server"
import { ReplicasPage } from "./replicas-page"

const open = (replicas: Replica[], master_id: number | null = 0) => {
  answer(REPLICAS, { broker: "broker-a", at: AT, mode: "static", master_id, failover: null, failover_reason: null, told: null, last_known: null, replicas, streams: [], streams_reason: null, silent_name_servers: [] })
  renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
}

beforeEach(answerNoHistory)

const openLed = (state: Partial<NonNullable<Replicas["failover"]>>, replicas: Replica[]) => {
  answer(REPLICAS, ledAnswer(state, replicas))
  renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
}

describe("the page of one broker name", () => {
  it("names the name servers that do not answer", async () => {
    answer(REPLICAS, { ...ledAnswer({}, [led(1), led(2)]), silent_name_servers: [{ address: "10.0.0.9:9876", reason: "it did not answer within 1 s" }] })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText("These name servers, and their controllers, do not answer: 10.0.0.9:9876")).toBeTruthy()
  })

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

  it("shows what the replicas say while no name server answers, and offers to remove nobody", async () => {
    const told = { ...STATE, epoch: 6, writable: true, writable_reason: null, effective_min_in_sync: 2 }
    const seen = { listed: null, last_seen_at: AT }
    const rows = [led(1, { heard: null }, "master"), { ...led(2, { heard: null }), reachable: false, reason: "broker-a at 10.0.0.3:10911 refused the connection" }]
    answer(REPLICAS, {
      ...ledAnswer({}, rows.map((each) => ({ ...each, ...seen }))),
      failover: null, told, failover_reason: "name server 10.0.0.9:9876 did not answer within 2 s",
      silent_name_servers: [{ address: "10.0.0.9:9876", reason: "name server 10.0.0.9:9876 did not answer within 1 s" }],
    })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" forget={() => <button>Forget</button>} />)
    expect(await screen.findByText(/^What controllers decided is not known: name server 10.0.0.9:9876 did not answer within 2 s\. What is shown here the replicas say themselves\.$/)).toBeTruthy()
    const master = await rowOf("10.0.0.2:10911")
    for (const words of ["Master", "Answers", /^In the set/]) expect(master.getByText(words)).toBeTruthy()
    expect(screen.getByText("1 of 2 replicas answer")).toBeTruthy()
    expect(screen.getByText("6")).toBeTruthy()
    expect(screen.queryByRole("button", { name: /Forget|Actions on replica/ })).toBeNull()
  })

  it("says that nobody tells who is master, and what was decided last", async () => {
    const dark = { ...replica(1, { role: null, reachable: false, reason: "it is gone", log_end: null, behind_bytes: null, behind_ms: null, listed: null, last_seen_at: AT }) }
    const last = { epoch: 4, version: 9, master_id: 2, in_sync: [1, 2], why: "killed", by: "n1", at: AT, seen_at: AT }
    answer(REPLICAS, { ...ledAnswer({}, [dark]), master_id: null, failover: null, failover_reason: "it is silent", last_known: last })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText(/^The last decision that the console saw, of .+: epoch 4, replica 2 master, in sync 1, 2\.$/)).toBeTruthy()
    expect((await rowOf("10.0.0.2:10911")).getByLabelText("Not known: nobody tells who is master")).toBeTruthy()
    expect(screen.queryByText("Slave")).toBeNull()
  })

  it("shows what the replicas say where the engine was set back, and what that one holds as older", async () => {
    const told = { ...STATE, master_id: 2, epoch: 1004, writable: true, writable_reason: null, effective_min_in_sync: 2 }
    answer(REPLICAS, { ...ledAnswer({ epoch: 1003, set_back: true }, [led(1), led(2, {}, "master")]), master_id: 2, told })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText(/They hold epoch 1003 with replica 1 as master; what is shown here is newer, as the replicas say\./)).toBeTruthy()
    expect(screen.getByText("1004")).toBeTruthy()
    expect((await rowOf("10.0.0.3:10911")).getByText("Master")).toBeTruthy()
  })

  it("does not call refused what is stored and not confirmed", async () => {
    openLed({ writable: false, writable_reason: "sends are stored, but not confirmed: the oldest waits for 8 s for the in-sync set" }, [led(1, {}, "master"), led(2)])
    expect(await screen.findByText("Sends are stored, but not confirmed: the oldest waits for 8 s for the in-sync set. Whoever sent them does not know whether they stay.")).toBeTruthy()
    expect(screen.queryByText(/refused/)).toBeNull()
  })

  it("shows what controllers decided, and says why sends are refused", async () => {
    openLed({ master_id: null, writable: false, writable_reason: "no master is elected", in_sync: [1], min_in_sync: 2 }, [led(1), led(2, { in_sync: false })])
    const second = await rowOf("10.0.0.3:10911")
    expect(second.getByText("Not in the set")).toBeTruthy()
    expect(screen.getByText("Sends are refused: no master is elected")).toBeTruthy()
    expect(screen.getByText("1 of 2 that sends need")).toBeTruthy()
  })

  it("asks for what the master's own setting wants where that is more than the policy", async () => {
    openLed({ min_in_sync: 1, effective_min_in_sync: 3, writable: false, writable_reason: "too few" }, [led(1, { confirm: 1_500 }, "master"), led(2)])
    expect(await screen.findByText("2 of 3 that sends need")).toBeTruthy()
    expect((await rowOf("10.0.0.2:10911")).getByText("1,500")).toBeTruthy()
  })

  it("does not say that sends are taken while the master does not tell", async () => {
    openLed({ writable: null, writable_reason: "broker-a refused the connection", effective_min_in_sync: null, min_in_sync: 1 }, [led(1, {}, "master"), led(2)])
    expect(await screen.findByText(/^Whether sends are taken is not known: /)).toBeTruthy()
    expect(screen.getByText("the policy wants 1, the master may want more")).toBeTruthy()
    expect(screen.queryByText(/^Sends are refused/)).toBeNull()
  })

  it("lists who copies the log as the master says, and says why it does not tell", async () => {
    const stream = { address: "10.0.0.2:51234", broker_id: null, acked: 990, lacking_bytes: 10, in_sync: true, bytes_per_second: 4_096, from_offset: 0 }
    answer(REPLICAS, { broker: "broker-a", at: AT, mode: "static", master_id: 0, failover: null, failover_reason: null, told: null, last_known: null, replicas: [replica(0)], streams: [stream], streams_reason: null, silent_name_servers: [] })
    const { unmount } = renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    const row = await rowOf("10.0.0.2:51234")
    for (const words of ["Keeps up", "990", "10 B", "4,096 B"]) expect(row.getByText(words)).toBeTruthy()
    expect(row.getByLabelText("Not known: slaves in static mode do not tell their id")).toBeTruthy()
    unmount()
    answer(REPLICAS, { broker: "broker-a", at: AT, mode: "static", master_id: 0, failover: null, failover_reason: null, told: null, last_known: null, replicas: [replica(0)], streams: null, streams_reason: "it is gone", silent_name_servers: [] })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText("it is gone")).toBeTruthy()
  })

  it("asks for no decisions where roles are fixed", async () => {
    open([replica(0)])
    await rowOf("10.0.0.1:10911")
    expect(requests(HISTORY)).toHaveLength(0)
  })

  it("hands over after a preview of what changes", async () => {
    openLed({}, [led(1, {}, "master"), led(2)])
    const path = "POST /api/v1/clusters/local/brokers/broker-a/replicas/2:promote"
    answer(path, { broker: "broker-a", dry_run: true, told: null, next_masters: [], before: STATE, after: { ...STATE, master_id: 2, epoch: 6 }, lacking_bytes: 2_048, keeps_acknowledged: true, has_until: null, orderly_groups: ["billing"], orderly_groups_total: 3, effective_min_in_sync: 2, refuses_sends: false, warnings: ["replica 3 is not heard"], plan: "signed", plan_expires_at: null })
    fireEvent.click(await screen.findByRole("button", { name: "Actions on replica 2" }))
    fireEvent.click(await screen.findByRole("menuitem", { name: "Make master…" }))
    const dialog = within(await screen.findByRole("dialog"))
    expect(await dialog.findByText("Replica 3 is not heard")).toBeTruthy()
    expect(dialog.getByText("6")).toBeTruthy()
    expect(dialog.getByText(/^Nothing acknowledged is lost\. .* 2,048 B less than the longest log\. It gets what it lacks from the master first\./)).toBeTruthy()
    expect(dialog.getByText(/consume in order, and pause .*: billing\. And 2 more\./)).toBeTruthy()
    fireEvent.click(dialog.getByRole("button", { name: "Hand over to replica 2" }))
    expect(await screen.findByText("Replica 2 is master of broker-a")).toBeTruthy()
    expect(requests(path).map(({ query }) => query.get("plan"))).toEqual([null, "signed"])
  })

  const openMenu = async (id: number, item: string) => {
    fireEvent.click(await screen.findByRole("button", { name: `Actions on replica ${id}` }))
    fireEvent.click(await screen.findByRole("menuitem", { name: item }))
    return within(await screen.findByRole("dialog"))
  }
  const cellsOf = (dialog: Awaited<ReturnType<typeof openMenu>>, row: string) =>
    within(dialog.getByRole("rowheader", { name: row }).closest("tr") as HTMLElement).getAllByRole("cell").map(({ textContent }) => textContent)

  it("shows how many replicas sends really need, before and after, and that one more failure stops them", async () => {
    openLed({ min_in_sync: 1, effective_min_in_sync: 2, in_sync: [1, 2, 3], replicas: [1, 2, 3] }, [led(1, {}, "master"), led(2), led(3)])
    const before = { ...STATE, min_in_sync: 1, in_sync: [1, 2, 3], replicas: [1, 2, 3] }
    const after = { ...before, in_sync: [1, 2], replicas: [1, 2] }
    answer("POST /api/v1/clusters/local/brokers/broker-a/replicas/3:remove", { ...PREVIEW, before, after, effective_min_in_sync: 2 })
    const dialog = await openMenu(3, "Remove while it runs…")
    expect(await dialog.findByText("One more failure stops sends: they need all 2 replicas that are in sync then.")).toBeTruthy()
    expect(cellsOf(dialog, "Replicas that sends need")).toEqual(["2", "2"])
    expect(cellsOf(dialog, "By the policy alone")).toEqual(["1", "1"])
    expect(screen.getByText("sends need 2")).toBeTruthy()
  })

  it("removes a replica that runs only as such, and one that is not heard plainly", async () => {
    const path = "POST /api/v1/clusters/local/brokers/broker-a/replicas/2:remove"
    answer(path, { ...PREVIEW, before: STATE, after: { ...STATE, in_sync: [1], replicas: [1] } })
    openLed({}, [led(1, {}, "master"), led(2), led(3, { heard: false })])
    const dialog = await openMenu(2, "Remove while it runs…")
    expect(dialog.getByText(/its process goes on without a part until somebody stops it/)).toBeTruthy()
    await dialog.findByText("In-sync set")
    fireEvent.click(dialog.getByRole("button", { name: "Remove replica 2" }))
    expect(await screen.findByText("Replica 2 of broker-a was removed")).toBeTruthy()
    expect(requests(path).map(({ query }) => [query.get("living"), query.get("plan")])).toEqual([["true", null], ["true", "signed"]])
    fireEvent.click(screen.getByRole("button", { name: "Actions on replica 3" }))
    expect(await screen.findByRole("menuitem", { name: "Remove…" })).toBeTruthy()
  })

  it("gives the focus back to the menu's button after Escape", async () => {
    answer(REPLICAS, ledAnswer({}, [led(1, {}, "master"), led(2)]))
    answer("POST /api/v1/clusters/local/brokers/broker-a/replicas/2:promote", { ...PREVIEW, before: STATE, after: { ...STATE, master_id: 2 } })
    const { user } = renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    const menu = await screen.findByRole("button", { name: "Actions on replica 2" })
    await user.click(menu)
    await user.click(await screen.findByRole("menuitem", { name: "Make master…" }))
    await screen.findByRole("dialog")
    await user.keyboard("{Escape}")
    await waitFor(() => expect(document.activeElement).toBe(menu))
    expect(screen.queryByRole("dialog")).toBeNull()
  })

  it("offers a loss, and says why, where the master that was decided is dead and nobody can take its place", async () => {
    const stuck = "none of those that have every acknowledged message of broker-a is heard: 1"
    openLed({ stuck, in_sync: [1], writable: null, writable_reason: "broker-a did not answer" }, [led(1, { heard: false }, "master"), led(2, { in_sync: false })])
    expect(await screen.findByText(`Nobody is elected master: ${stuck}. Start what is missing; if it is gone for good, accept the loss in the menu of a replica that answers.`)).toBeTruthy()
    fireEvent.click(screen.getByRole("button", { name: "Actions on replica 2" }))
    expect(await screen.findByRole("menuitem", { name: "Accept loss…" })).toBeTruthy()
  })

  it("says of a loss what the new master lacks, and nothing of what is kept", async () => {
    openLed({ master_id: null }, [led(1, { clean: false })])
    answer("POST /api/v1/clusters/local/brokers/broker-a/replicas/1:accept-loss", { ...PREVIEW, before: { ...STATE, master_id: null }, after: STATE, lacking_bytes: 70, keeps_acknowledged: false })
    const dialog = await openMenu(1, "Accept loss…")
    expect(await dialog.findByText(/the new master had 70 B less than the longest log/)).toBeTruthy()
    expect(dialog.queryByText(/Nothing acknowledged is lost|is cut/)).toBeNull()
  })

  it("shows another plan after a refusal only when somebody asks for it", async () => {
    openLed({}, [led(1, {}, "master"), led(2)])
    const path = "POST /api/v1/clusters/local/brokers/broker-a/replicas/2:promote"
    answer(path, { ...PREVIEW, before: STATE, after: { ...STATE, master_id: 2, epoch: 6 } })
    fireEvent.click(await screen.findByRole("button", { name: "Actions on replica 2" }))
    fireEvent.click(await screen.findByRole("menuitem", { name: "Make master…" }))
    const dialog = within(await screen.findByRole("dialog"))
    await dialog.findByText("6")
    refuse(path, 412, "PRECONDITION_FAILED", "Something else was decided.")
    fireEvent.click(dialog.getByRole("button", { name: "Hand over to replica 2" }))
    const again = await dialog.findByRole("button", { name: "Preview" })
    const go = dialog.getByRole<HTMLButtonElement>("button", { name: "Hand over to replica 2" })
    expect(go.disabled).toBe(true)
    expect(requests(path)).toHaveLength(2)
    answer(path, { ...PREVIEW, before: STATE, after: { ...STATE, master_id: 2, epoch: 7 } })
    fireEvent.click(again)
    expect(await dialog.findByText("7")).toBeTruthy()
    expect(go.disabled).toBe(false)
  })

  it("asks for the name before messages are lost", async () => {
    openLed({ master_id: null }, [led(1, { clean: false })])
    answer("POST /api/v1/clusters/local/brokers/broker-a/replicas/1:accept-loss", { broker: "broker-a", dry_run: true, told: null, next_masters: [], before: STATE, after: STATE, lacking_bytes: null, has_until: null, orderly_groups: null, orderly_groups_total: null, effective_min_in_sync: 2, refuses_sends: true, warnings: [], plan: "signed", plan_expires_at: null })
    fireEvent.click(await screen.findByRole("button", { name: "Actions on replica 1" }))
    fireEvent.click(await screen.findByRole("menuitem", { name: "Accept loss…" }))
    const dialog = within(await screen.findByRole("dialog"))
    expect(await dialog.findByText("Sends would be refused: they need 2 replicas in sync.")).toBeTruthy()
    const go = dialog.getByRole<HTMLButtonElement>("button", { name: "Go on from replica 1" })
    expect(go.disabled).toBe(true)
    fireEvent.change(dialog.getByLabelText("Type broker-a to continue"), { target: { value: "broker-a" } })
    expect(go.disabled).toBe(false)
  })

  const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name })

  it("changes the policy that was read, after a preview", async () => {
    const path = "/api/v1/clusters/local/brokers/broker-a/policy"
    answer(`GET ${path}`, { min_in_sync: 2, unclean_allowed: false }, 200, { ETag: '"first"' })
    answer(`PATCH ${path}`, { ...PREVIEW, before: STATE, after: { ...STATE, min_in_sync: 3 }, refuses_sends: true })
    openLed({}, [led(1, {}, "master"), led(2)])
    fireEvent.click(await screen.findByRole("button", { name: "Policy" }))
    const least = await screen.findByLabelText("Replicas that sends need")
    expect(button("Preview").disabled).toBe(true)
    fireEvent.change(least, { target: { value: "3" } })
    fireEvent.click(button("Preview"))
    expect(await screen.findByText("Sends would be refused: they need 3 replicas in sync.")).toBeTruthy()
    // The form takes no second press within a moment of the first.
    await waitFor(() => {
      if (requests(`PATCH ${path}`).length < 2) fireEvent.click(button("Change the policy"))
      expect(requests(`PATCH ${path}`)).toHaveLength(2)
    })
    expect(await screen.findByText("The policy of broker-a was changed")).toBeTruthy()
    const sent = requests(`PATCH ${path}`)
    expect(sent.map(({ query }) => [query.get("dry_run"), query.get("plan")])).toEqual([["true", null], [null, "signed"]])
    expect(sent.map(({ headers }) => headers.get("If-Match"))).toEqual(['"first"', '"first"'])
    expect(sent.map(({ body }) => body)).toEqual([{ min_in_sync: 3, unclean_allowed: false }, { min_in_sync: 3, unclean_allowed: false }])
  })

  it("asks for the name before a replica may be elected that lacks messages", async () => {
    answer("GET /api/v1/clusters/local/brokers/broker-a/policy", { min_in_sync: 2, unclean_allowed: false })
    openLed({}, [led(1, {}, "master"), led(2)])
    fireEvent.click(await screen.findByRole("button", { name: "Policy" }))
    fireEvent.click(await screen.findByLabelText("Unclean replica may be elected"))
    expect(screen.getByText(/Acknowledged messages are lost, without a question/)).toBeTruthy()
    expect(button("Preview").disabled).toBe(true)
    fireEvent.change(screen.getByLabelText("Type broker-a to continue"), { target: { value: "broker-a" } })
    expect(button("Preview").disabled).toBe(false)
  })

  it("adopts a state where the name was set back, with the replicas that somebody names", async () => {
    const path = "POST /api/v1/clusters/local/brokers/broker-a:adopt"
    answer(path, { ...PREVIEW, before: STATE, told: { ...STATE, master_id: 2, epoch: 6 }, after: { ...STATE, master_id: null, epoch: 1005, in_sync: [2] }, next_masters: [2] })
    openLed({ set_back: true }, [led(1, {}, "master"), led(2)])
    fireEvent.click(await screen.findByRole("button", { name: "Adopt a state" }))
    fireEvent.click(await screen.findByLabelText("2 at 10.0.0.3:10911"))
    fireEvent.change(screen.getByLabelText("Cluster name of the brokers"), { target: { value: "shop" } })
    fireEvent.click(button("Preview"))
    expect(await screen.findByText("from 1005 on")).toBeTruthy()
    expect(screen.getByText("2, which has the longest log")).toBeTruthy()
    expect(screen.getByText("6", { selector: "td" })).toBeTruthy()
    expect(button("Go on with replica 2").disabled).toBe(true)
    fireEvent.change(screen.getByLabelText("Type broker-a to continue"), { target: { value: "broker-a" } })
    await waitFor(() => {
      if (requests(path).length < 2) fireEvent.click(button("Go on with replica 2"))
      expect(requests(path)).toHaveLength(2)
    })
    expect(await screen.findByText("broker-a goes on with replica 2")).toBeTruthy()
    expect(requests(path).map(({ body }) => body)).toEqual([{ in_sync: [2], of_cluster: "shop" }, { in_sync: [2], of_cluster: "shop" }])
  })

  it("offers an adoption where the controllers keep nothing, as with an empty etcd", async () => {
    const path = "POST /api/v1/clusters/local/brokers/broker-a:adopt"
    answer(path, { ...PREVIEW, before: null, told: STATE, after: { ...STATE, master_id: null, epoch: 1005 }, next_masters: [1] })
    const told = { ...STATE, writable: true, writable_reason: null, effective_min_in_sync: 2 }
    answer(REPLICAS, { ...ledAnswer({}, [led(1, {}, "master"), led(2)]), failover: null, failover_reason: "broker-a is not known here", may_adopt: true, told })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect(await screen.findByText(/^The controllers keep no state of this broker, as with an empty etcd, and its replicas know one\./)).toBeTruthy()
    fireEvent.click(screen.getByRole("button", { name: "Adopt a state" }))
    fireEvent.click(await screen.findByLabelText("1 at 10.0.0.2:10911"))
    fireEvent.change(screen.getByLabelText("Cluster name of the brokers"), { target: { value: "shop" } })
    fireEvent.click(button("Preview"))
    expect(await screen.findByText("from 1005 on")).toBeTruthy()
    expect(requests(path).map(({ query }) => query.get("dry_run"))).toEqual(["true"])
  })

  it("calls a dead master silent also where the engine was set back", async () => {
    const told = { ...STATE, master_id: 2, epoch: 1004, writable: null, writable_reason: "it is gone", effective_min_in_sync: null }
    const dead = { ...led(2, { heard: false }, "master"), reachable: false, reason: "it is gone", log_end: null }
    answer(REPLICAS, { ...ledAnswer({ epoch: 1003, set_back: true }, [led(1), dead]), master_id: 2, told })
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
    expect((await rowOf("10.0.0.3:10911")).getByText("it is gone")).toBeTruthy()
    expect(screen.getByText("does not answer").closest("[data-tone]")?.getAttribute("data-tone")).toBe("crit")
  })

  it("says in the form why a change of the policy is refused", async () => {
    const policy = "/api/v1/clusters/local/brokers/broker-a/policy"
    answer(`GET ${policy}`, { min_in_sync: 2, unclean_allowed: false })
    refuse(`PATCH ${policy}`, 409, "CONFLICT", "broker-a has 2 replicas, so min_in_sync is 1 to 2, not 3")
    openLed({ set_back: true }, [led(1, {}, "master"), led(2)])
    fireEvent.click(await screen.findByRole("button", { name: "Policy" }))
    fireEvent.change(await screen.findByLabelText("Replicas that sends need"), { target: { value: "3" } })
    fireEvent.click(button("Preview"))
    const form = () => within(screen.getByLabelText("Replicas that sends need").closest("form") as HTMLElement)
    expect((await form().findByRole("alert")).textContent).toMatch(/This cannot be done now.*broker-a has 2 replicas, so min_in_sync is 1 to 2, not 3/)
    fireEvent.change(screen.getByLabelText("Replicas that sends need"), { target: { value: "1" } })
    expect(form().queryByRole("alert")).toBeNull()
  })

  it("says in the form why an adoption is refused", async () => {
    refuse("POST /api/v1/clusters/local/brokers/broker-a:adopt", 409, "CONFLICT", "this controller is of cluster local (controllerClusterName), not of shop")
    openLed({ set_back: true }, [led(1, {}, "master"), led(2)])
    fireEvent.click(await screen.findByRole("button", { name: "Adopt a state" }))
    fireEvent.click(await screen.findByLabelText("2 at 10.0.0.3:10911"))
    const cluster = screen.getByLabelText("Cluster name of the brokers")
    fireEvent.change(cluster, { target: { value: "shop" } })
    fireEvent.click(button("Preview"))
    expect((await within(cluster.closest("form") as HTMLElement).findByRole("alert")).textContent).toMatch(/This cannot be done now.*of cluster local/)
  })

  it("offers no adoption where nothing was set back", async () => {
    openLed({}, [led(1, {}, "master"), led(2)])
    await rowOf("10.0.0.3:10911")
    expect(screen.queryByRole("button", { name: "Adopt a state" })).toBeNull()
  })

  it("lets nobody change replicas without the right", async () => {
    answer(REPLICAS, ledAnswer({}, [led(1, {}, "master"), led(2)]))
    renderApp(<ReplicasPage cluster="local" broker="broker-a" />, { me: reader() })
    expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Actions on replica 2" })).disabled).toBe(true)
  })
})
