import { fireEvent, screen, waitFor } from "@testing-library/react"
import { useState } from "react"
import { describe, expect, it } from "vitest"
import type { NewReplica, Replica } from "@/lib/api-types"
import { replica } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { AddReplica } from "./add-replica"

const NEW = "GET /api/v1/clusters/local/brokers/broker-a/replicas/new"
const stage = (replicas: number[], in_sync: number[], failures: number | null) => ({ replicas, in_sync, effective_min_in_sync: failures === null ? null : 2, failures })
const PLAN: NewReplica = {
  broker: "broker-a", replica_id: 4, refused: null, most_replicas: null, master_id: 1, copy_bytes: 3_200_000_000, copy_bytes_per_second: 100_000_000,
  before: stage([1, 2, 3], [1, 2], 0), started: stage([1, 2, 3, 4], [1, 2], 0), caught_up: stage([1, 2, 3, 4], [1, 2, 4], 1),
  settings_of: 1, file: "/etc/gantry/broker-a.conf", configuration: "brokerName=broker-a\nlistenPort=10911\n", command: "systemctl enable --now gantry-broker@a", missing: ["address"],
}
const led = (id: number, in_sync: boolean, behind_bytes: number | null): Replica =>
  replica(id, { behind_bytes, failover: { in_sync, heard: true, clean: true, life: "1-a", confirm: null, last_epoch: 5, epochs: null, in_sync_since: null } })

const open = (plan: Partial<NewReplica>) => {
  answer(NEW, { ...PLAN, ...plan })
  renderApp(<AddReplica cluster="local" broker="broker-a" replicas={[led(1, true, null)]} onClose={() => undefined} />)
}
/** The form beside a page that learns of more replicas. */
function Growing({ steps }: { steps: Replica[][] }) {
  const [step, setStep] = useState(0)
  return (
    <>
      <button onClick={() => setStep(step + 1)}>later</button>
      <AddReplica cluster="local" broker="broker-a" replicas={[led(1, true, null), ...(steps[step] ?? [])]} onClose={() => undefined} />
    </>
  )
}

const cells = async (row: string) => [...((await screen.findByText(row)).closest("tr")?.querySelectorAll("td") ?? [])].map((cell) => cell.textContent)

describe("adding a replica", () => {
  it("says what it would do, what it copies and what sends survive then", async () => {
    open({})
    expect(await cells("Failures that sends survive")).toEqual(["0", "0", "1"])
    expect(await cells("In-sync set")).toEqual(["1, 2", "1, 2", "1, 2, 4"])
    expect(screen.getByText("It copies 3.2 GB from the master, replica 1, at 100 MB a second at most: for 32 s or longer.")).toBeTruthy()
    expect(screen.getByText("It gets the id 4, unless another new one comes before it.")).toBeTruthy()
  })

  it("has the file and the command to copy, filled by the address that somebody enters", async () => {
    open({})
    expect((await screen.findByLabelText("/etc/gantry/broker-a.conf")).textContent).toBe(PLAN.configuration)
    expect(screen.getByText("systemctl enable --now gantry-broker@a")).toBeTruthy()
    expect(screen.getByText(/^brokerIP1 is left out/)).toBeTruthy()
    fireEvent.change(screen.getByLabelText("Address of its machine"), { target: { value: " 10.0.0.14 " } })
    await waitFor(() => expect(requests(NEW).at(-1)?.query.get("address")).toBe("10.0.0.14"))
  })

  it("leads a group of make up to one replica more, and says that sends then need two", async () => {
    open({ file: null, configuration: null, missing: [], most_replicas: 5, command: "GANTRY_REPLICAS=3 make up", before: { ...stage([1, 2], [1, 2], 1), effective_min_in_sync: 1 } })
    expect(await screen.findByText("GANTRY_REPLICAS=3 make up")).toBeTruthy()
    for (const words of ["make up starts 5 replicas at most.", /^Sends need 2 replicas in sync then/]) expect(screen.getByText(words)).toBeTruthy()
    expect(screen.queryByLabelText("Address of its machine")).toBeNull()
  })

  it("promises no command where none can be added", async () => {
    open({ refused: "set_back" })
    expect(await screen.findByText(/^None can be added now/)).toBeTruthy()
    expect(screen.queryByText(PLAN.command)).toBeNull()
  })

  it("calls unknown what the master does not tell", async () => {
    open({ copy_bytes: null, before: stage([1], [1], null), started: stage([1, 4], [1], null), caught_up: stage([1, 4], [1, 4], null) })
    expect(await cells("Failures that sends survive")).toEqual(["—", "—", "—"])
    expect(screen.getByText("How much it has to copy is not known: the master does not tell.")).toBeTruthy()
  })

  it("says that the new replica has come, what it lacks, and that it has joined the set", async () => {
    answer(NEW, PLAN)
    const { user } = renderApp(<Growing steps={[[], [led(4, false, 2_000_000)], [led(4, true, 0)]]} />)
    await screen.findByText(PLAN.command)
    expect(screen.queryByRole("status")).toBeNull()
    await user.click(screen.getByText("later"))
    expect(screen.getByRole("status").textContent).toBe("Replica 4 has come, at 10.0.0.5:10911. It still lacks 2.0 MB of the log.")
    await user.click(screen.getByText("later"))
    expect(screen.getByRole("status").textContent).toBe("Replica 4 has come, at 10.0.0.5:10911, and is in the in-sync set.")
  })

  it("says why there is no preview", async () => {
    refuse(NEW, 503, "BROKERS_SILENT", "No controller leads.")
    renderApp(<AddReplica cluster="local" broker="broker-a" replicas={[]} onClose={() => undefined} />)
    expect(await screen.findByText("The controller does not say what it would do")).toBeTruthy()
  })
})
