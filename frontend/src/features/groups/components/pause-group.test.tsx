import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { group } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { GroupPage } from "./group-page"

const ONE = "GET /api/v1/clusters/local/groups/billing"
const PAUSE = "POST /api/v1/clusters/local/groups/billing:pause"
const RESUME = "POST /api/v1/clusters/local/groups/billing:resume"
const config = { consume_enabled: true, consume_broadcast_enabled: false, retry_queue_nums: 1, retry_max_times: 16 }
const running = group("billing", { config, clients: 2, lease_consumers: [], leases: 1_240 })
const paused = group("billing", { state: "consuming", delivery: "paused", config: { ...config, consume_enabled: false } })
const took = [{ broker: "broker-a", done: true, reason: null }]

const openMenu = async (known: object) => {
  answer(ONE, known)
  const app = renderApp(<GroupPage cluster="local" group="billing" deadLetters={() => null} activity={() => null} lag={() => null} />)
  await screen.findByText("In flight")
  await app.user.click(screen.getByLabelText("More actions"))
  return app
}

describe("pausing a group", () => {
  it("says whom it hits and what stays possible before it stops the delivery", async () => {
    const { user } = await openMenu(running)
    answer(PAUSE, { ...paused, brokers: took })
    await user.click(await screen.findByRole("menuitem", { name: "Pause group" }))
    expect(await screen.findByText("2 clients stop receiving at once.")).toBeTruthy()
    expect(screen.getByText("1,240 messages were received and not acknowledged; they still can be while their leases run.")).toBeTruthy()
    expect(requests(PAUSE)).toHaveLength(0)
    await user.click(button("Pause billing"))
    expect(await screen.findByText("Group billing is paused")).toBeTruthy()
    expect(await screen.findByText("Paused")).toBeTruthy()
    expect(screen.queryByText("Consuming")).toBeNull()
  })

  it("offers both where some brokers deliver and others do not", async () => {
    await openMenu(group("billing", { config, state: "consuming", delivery: "partly_paused" }))
    expect(screen.getByText("Partly paused")).toBeTruthy()
    await screen.findByRole("menuitem", { name: "Pause group" })
    expect(screen.getAllByRole("menuitem", { hidden: true }).map(({ textContent }) => textContent)).toContain("Resume group")
  })

  it("names the broker that goes on delivering", async () => {
    const { user } = await openMenu(running)
    answer(PAUSE, { ...paused, brokers: [...took, { broker: "broker-b", done: false, reason: "broker-b refused the connection" }] }, 207)
    await user.click(await screen.findByRole("menuitem", { name: "Pause group" }))
    await user.click(await screen.findByRole("button", { name: "Pause billing" }))
    expect(await screen.findByText("Group billing is paused, but not on every broker")).toBeTruthy()
  })

  it("resumes a paused group without a question", async () => {
    const { user } = await openMenu(paused)
    answer(RESUME, { ...running, brokers: took })
    await user.click(await screen.findByRole("menuitem", { name: "Resume group" }))
    expect(await screen.findByText("Group billing receives again")).toBeTruthy()
    expect(screen.queryByText("Paused")).toBeNull()
  })

  it("stays paused when the brokers refuse", async () => {
    const { user } = await openMenu(paused)
    refuse(RESUME, 502, "BROKER_REFUSED", "broker-a refused: no permission")
    await user.click(await screen.findByRole("menuitem", { name: "Resume group" }))
    expect(await screen.findByText("Group billing was not resumed")).toBeTruthy()
    expect(screen.getByText("Paused")).toBeTruthy()
  })
})
