import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { ReplicaChange } from "@/lib/api-types"
import { AT } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { PREVIEW } from "@/testing/replicas"
import { answer } from "@/testing/server"
import { ChangeReplica } from "./change-replica"

const REPLICA = "POST /api/v1/clusters/local/brokers/broker-a/replicas/2"
type Removed = NonNullable<ReplicaChange["removed"]>
const REMOVED: Removed = { replica_id: 2, address: "10.0.0.13:10911", runs: true, successor_id: null, folder: "/var/lib/gantry/a/store", advice: "stop it" }

const open = (action: "remove" | "accept-loss", plan: Partial<ReplicaChange>) => {
  answer(`${REPLICA}:${action}`, { ...PREVIEW, ...plan })
  renderApp(<ChangeReplica target={{ cluster: "local", broker: "broker-a", replica: 2, action }} leastNow={2} onClose={() => undefined} />)
}

describe("removing a replica", () => {
  const remove = (removed: Partial<Removed>) => open("remove", { removed: { ...REMOVED, ...removed } })

  it("names the address of its process and its folder, and says that nobody stops it", async () => {
    remove({})
    expect((await screen.findByText(/^Its process at 10\.0\.0\.13:10911 is not stopped by this: stop it there\. Then its data folder .* may be deleted/)).textContent).toMatch(/Data folder \/var\/lib\/gantry\/a\/store$/)
  })

  it("says that the folder is not known while nobody answers, and where its id is", async () => {
    remove({ runs: null, folder: null })
    const words = await screen.findByText(/^Nobody answers at 10\.0\.0\.13:10911, where it registered\. See that its process is stopped/)
    expect(words.textContent).toMatch(/Where that folder is only its process tells\. The first line of brokerIdentity/)
  })

  it("tells nobody to stop another replica that is at its address", async () => {
    remove({ runs: false, successor_id: 4, folder: null })
    expect(await screen.findByText("Replica 4 is at 10.0.0.13:10911 now: leave that process and its folder alone.")).toBeTruthy()
    expect(screen.queryByText(/may be deleted/)).toBeNull()
  })
})

describe("accepting a loss", () => {
  const accept = (loss: ReplicaChange["loss"], keeps_acknowledged = false) => open("accept-loss", { keeps_acknowledged, loss, after: { ...PREVIEW.after, master_id: 2 } })

  it("says how much is lost at most, since when, and by whose log", async () => {
    accept({ most_bytes: 2_048, replica_id: 1, log_end: 812_440, as_of: AT })
    expect(await screen.findByText(/^At most 2,048 B of acknowledged messages are lost, as of .+: until then replica 1 surely had all of them/)).toBeTruthy()
  })

  it("calls a loss unknown that nobody measured", async () => {
    accept(null)
    expect(await screen.findByText(/^How much is lost of what was acknowledged is not known/)).toBeTruthy()
    expect(screen.queryByText(/At most/)).toBeNull()
  })

  it("tells no loss where the new master has all that was acknowledged", async () => {
    accept(null, true)
    expect(await screen.findByText(/Nothing acknowledged is lost/)).toBeTruthy()
    expect(screen.queryByText(/How much is lost/)).toBeNull()
  })
})
