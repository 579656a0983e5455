import { screen } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import type { Replica, Replicas } from "@/lib/api-types"
import { AT } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answerNoHistory, HISTORY, led, ledAnswer, REPLICAS, rowOf } from "@/testing/replicas"
import { answer } from "@/testing/server"
import { ReplicasPage } from "./replicas-page"

beforeEach(answerNoHistory)

const openLed = (state: Partial<NonNullable<Replicas["failover"]>>, replicas: Replica[]) => {
  answer(REPLICAS, ledAnswer(state, replicas))
  renderApp(<ReplicasPage cluster="local" broker="broker-a" />)
}

describe("marks on the page of one broker name", () => {
  it("warns of a set of which none may fail, and calls the last change what it is", async () => {
    openLed({ in_sync: [1, 2], effective_min_in_sync: 2, last: { why: "replica 1 started", by: "n1", at: AT } }, [led(1, {}, "master"), led(2)])
    expect((await screen.findByText("sends need 2: one more failure stops them")).closest("[data-tone]")?.getAttribute("data-tone")).toBe("warn")
    expect(screen.getByText("last change: replica 1 started")).toBeTruthy()
  })

  it("warns of who is silent also where the master is", async () => {
    const silent = { reachable: false, reason: "broker-a refused the connection", behind_bytes: null }
    openLed({ in_sync: [1, 2], replicas: [1, 2, 3] }, [{ ...led(1, {}, "master"), ...silent }, { ...led(2), ...silent }, led(3, { in_sync: false })])
    expect((await screen.findByText("replica 1, 2")).closest("[data-tone]")?.getAttribute("data-tone")).toBe("warn")
  })

  it("lets a small lag look small", async () => {
    openLed({}, [led(1, {}, "master"), { ...led(2), behind_bytes: 1_000, behind_ms: 107 }])
    expect(await screen.findByText("10 MB")).toBeTruthy()
    const load = (await rowOf("10.0.0.3:10911")).getByText("1,000 B").closest("tr")?.querySelector<HTMLElement>('[data-tone="normal"]')
    expect(parseFloat(load?.style.width ?? "100")).toBeLessThan(1)
  })

  it("tells which replicas came and went, once", async () => {
    const decision = { epoch: 5, master_id: 1, in_sync: [1, 2], by: "n1", at: AT, seen_at: AT, removed: [] }
    const items = [{ ...decision, version: 5, why: "replica 5 is new", added: [5] }, { ...decision, version: 4, why: "replica 4 started", added: [4], removed: [3] }]
    answer(HISTORY, { broker: "broker-a", items })
    openLed({}, [led(1, {}, "master"), led(2)])
    for (const words of ["replica 4 is new", "replica 3 was removed", "replica 5 is new (controller n1)"]) expect(await screen.findByText(words)).toBeTruthy()
    expect(screen.queryByText("replica 5 is new")).toBeNull()
  })

  it("tells who was master before, and since when nobody was", async () => {
    const decision = { version: 3, added: [], removed: [], why: "replica 1 is not heard", by: "n1", at: AT, seen_at: AT }
    answer(HISTORY, { broker: "broker-a", items: [{ ...decision, epoch: 6, master_id: 2, in_sync: [2] }, { ...decision, epoch: 5, master_id: null, in_sync: [1, 2] }] })
    openLed({}, [led(1, {}, "master"), led(2)])
    expect(await screen.findByText("Epoch 6: replica 2 is master, in sync 2")).toBeTruthy()
    expect(screen.getByText("Epoch 5: no master, in sync 1, 2")).toBeTruthy()
    expect(screen.getAllByText("replica 1 is not heard (controller n1)")).toHaveLength(2)
  })
})
