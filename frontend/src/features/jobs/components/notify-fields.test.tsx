import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { RefusalsContext } from "@/components/wizard/refusals"
import { admin, job, page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { JobPlan } from "./job-plan"
import { NotifyFields } from "./notify-fields"

const CHANNELS = "GET /api/v1/alert-channels"
const channel = (id: string, name: string, enabled = true) => ({ id, name, kind: "webhook", enabled, target: "https://hooks.example", recipients: [], has_secret: false, former_secret_until: null, rules: 0, etag: '"1"' })
const given = () => answer(CHANNELS, page([channel("c1", "on-call"), channel("c2", "archive", false)]))
const inAddress = (address: string) => Object.fromEntries(new URLSearchParams(address.split("?")[1]))

describe("the channels that are told of the end of a job", () => {
  it("are chosen by name, and told of failed and partial ends", async () => {
    given()
    const { user, address } = renderApp(<NotifyFields />, { at: "/jobs/new" })
    await user.click(await screen.findByRole("combobox", { name: "Notify" }))
    expect(await screen.findByRole("option", { name: "archive (switched off)", hidden: true })).toBeTruthy()
    await user.click(screen.getByRole("option", { name: "on-call", hidden: true }))
    await waitFor(() => expect(inAddress(address())).toEqual({ notify: "c1" }))
    expect(["Failed", "Partial", "Succeeded"].map((name) => (screen.getByRole("checkbox", { name }) as HTMLInputElement).checked)).toEqual([true, true, false])
  })

  it("are told of one end at least", async () => {
    given()
    const { user, address } = renderApp(<NotifyFields />, { at: "/jobs/new?notify=c1&ends=partial" })
    const partial = (await screen.findByRole("checkbox", { name: "Partial" })) as HTMLInputElement
    expect(partial.disabled).toBe(true)
    await user.click(screen.getByRole("checkbox", { name: "Succeeded" }))
    await waitFor(() => expect(inAddress(address()).ends).toBe("partial,succeeded"))
    await waitFor(() => expect(partial.disabled).toBe(false))
  })

  it("keep one that was deleted, until it is taken out", async () => {
    given()
    const { user, address, container } = renderApp(<NotifyFields />, { at: "/jobs/new?notify=c9&ends=failed" })
    expect((await screen.findAllByText("c9 (deleted)")).length).toBeGreaterThan(0)
    await user.click(container.querySelector(".mantine-MultiSelect-pill button") as HTMLElement)
    await waitFor(() => expect(inAddress(address())).toEqual({}))
    expect(screen.queryByRole("checkbox")).toBeNull()
  })

  it("show at their field why the server refused them", async () => {
    given()
    const request = { notify: { channels: ["c9"], on: ["failed"] } }
    const refusals = [{ sent: request, fields: { "notify.channels": "there is no channel 'c9'" } }]
    renderApp(<RefusalsContext value={{ request, refusals, note: () => undefined, stepOf: () => undefined }}>{<NotifyFields />}</RefusalsContext>, { at: "/jobs/new?notify=c9" })
    expect(await screen.findByText(/there is no channel 'c9'/)).toBeTruthy()
  })

  it("are not asked for without the right to choose them", async () => {
    renderApp(<NotifyFields />, { at: "/jobs/new", me: { ...admin(), rights: ["read", "jobs"] } })
    expect(((await screen.findByRole("combobox", { name: "Notify" })) as HTMLInputElement).disabled).toBe(true)
    expect(requests(CHANNELS)).toHaveLength(0)
  })

  it("are said to be unknown when they cannot be read", async () => {
    refuse(CHANNELS, 503, "UNAVAILABLE", "The database does not answer.")
    renderApp(<NotifyFields />, { at: "/jobs/new?notify=c1" })
    expect(await screen.findByText("The alert channels could not be read")).toBeTruthy()
    expect(screen.queryByText(/deleted/)).toBeNull()
  })

  it("stand in the plan of the job", async () => {
    given()
    const request = { type: "replay", cluster: "local", source: { topic: "orders" }, target: { topic: "staging" }, notify: { channels: ["c1", "c2"], on: ["failed", "succeeded"] } }
    renderApp(<JobPlan job={job("j1", { state: "succeeded", request })} />, { at: "/jobs/j1" })
    expect(await screen.findByText("on-call, archive (switched off) (Failed, Succeeded)")).toBeTruthy()
  })
})
