import { act, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { job, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, refuse, requests } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { JobsPage } from "./jobs-page"

const LIST = "GET /api/v1/jobs"
const show = (at = "/jobs", options = {}) => renderApp(<JobsPage scheduleFilter={<i>schedules</i>} />, { at, ...options })
const rowOf = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLElement)

beforeEach(() => {
  FakeSocket.all = []
})

describe("the list of jobs", () => {
  it("gives each job its state, how far it is, and how long it took", async () => {
    answer(LIST, page([job("j1", { name: "copy", state: "succeeded", worked_ms: 120_000, finished_at: "2026-11-21T06:02:00Z" })]))
    show()
    const row = await rowOf("copy")
    for (const words of ["Succeeded", "600 / 1 k", "2 min"]) expect(row.getByText(words)).toBeTruthy()
  })

  it("says of a comparison what it found, and of one without differences that it went well", async () => {
    const compared = (id: string, name: string, different: number) =>
      job(id, { type: "reconcile", request: {}, name, state: "succeeded", finished_at: "2026-11-21T06:02:00Z", result: { tiles: { matched: 90, different, keyless_left: 3 } } })
    answer(LIST, page([compared("j1", "differs", 27), compared("j2", "agrees", 0)]))
    show()
    expect((await rowOf("differs")).getByText("27 differences")).toBeTruthy()
    expect((await rowOf("differs")).queryByText("Succeeded")).toBeNull()
    expect((await rowOf("agrees")).getByText("Succeeded")).toBeTruthy()
  })

  it("draws nothing for a job that has not begun", async () => {
    answer(LIST, page([job("j1", { name: "copy", state: "queued", started_at: null, rate: null })]))
    show()
    expect((await rowOf("copy")).getAllByText("—").length).toBeGreaterThan(2)
  })

  it("gives no total while it is not counted", async () => {
    answer(LIST, page([job("j1", { name: "copy", counters: { ...job("j1").counters, planned: null, read: 1_500 } })]))
    show()
    expect((await rowOf("copy")).queryByText(/\//)).not.toBeNull()
    expect((await rowOf("copy")).queryByText(/\/ 0/)).toBeNull()
  })

  it("filters by kind and state through the address, and takes a second click back", async () => {
    answer(LIST, page([job("j1")]))
    const { user, address } = show()
    await user.click(await screen.findByText("Failed"))
    await waitFor(() => expect(address()).toContain("state=failed"))
    await waitFor(() => expect(requests(LIST).at(-1)?.query.get("state")).toBe("failed"))
    await user.click(screen.getByText("Failed"))
    await waitFor(() => expect(address()).not.toContain("state="))
  })

  it("takes several kinds and states at once", async () => {
    answer(LIST, page([job("j1")]))
    const { user, address } = show("/jobs?type=export")
    await user.click(await screen.findByText("Redrive"))
    await waitFor(() => expect(address()).toContain("type=export%2Credrive"))
    await waitFor(() => expect(requests(LIST).at(-1)?.query.get("type")).toBe("export,redrive"))
  })

  it("asks for what the address names, and opens the fields that are folded away if one is set", async () => {
    const asked = { topic: "orders", group: "billing", created_by: "olga", schedule: "s1", from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z" }
    answer(LIST, page([job("j1")]))
    show(`/jobs?${new URLSearchParams(asked)}`)
    await waitFor(() => expect(Object.fromEntries(requests(LIST).at(-1)?.query ?? [])).toMatchObject(asked))
    for (const [words, value] of [["Topic, its whole name", "orders"], ["Group, its whole name", "billing"], ["Started by, user name", "olga"]] as const)
      expect(screen.getByLabelText<HTMLInputElement>(words).value).toBe(value)
    expect(screen.getByText("schedules")).toBeTruthy()
  })

  it("says how many filters are folded away, and takes all of them back at once", async () => {
    answer(LIST, page([]))
    const { user, address } = show("/jobs?group=billing&topic=orders")
    await user.click(await screen.findByText("Fewer filters"))
    expect(screen.getByText("More filters (1 set)")).toBeTruthy()
    await user.click(await screen.findByText("Show all"))
    await waitFor(() => expect(address()).toBe("/jobs"))
    expect(screen.getByLabelText<HTMLInputElement>("Topic, its whole name").value).toBe("")
    expect(await screen.findByText("There are no jobs yet")).toBeTruthy()
  })

  it("asks for nothing while a time of the address is none", async () => {
    answer(LIST, page([job("j1")]))
    show("/jobs?from=yesterday")
    expect(await screen.findByText(/cannot be read/)).toBeTruthy()
    expect(requests(LIST).filter(({ query }) => query.get("limit") === "50")).toHaveLength(0)
  })

  it("tells that there is no job from that no job matches", async () => {
    answer(LIST, page([]))
    const none = show()
    expect(await screen.findByText("There are no jobs yet")).toBeTruthy()
    none.unmount()
    show("/jobs?type=reconcile")
    expect(await screen.findByText("No job matches")).toBeTruthy()
  })

  it("opens a job by its row, and by the key Enter", async () => {
    answer(LIST, page([job("j1", { name: "copy" })]))
    const { user, address } = show()
    await screen.findByText("copy")
    await user.keyboard("j{Enter}")
    await waitFor(() => expect(address()).toBe("/jobs/j1"))
  })

  it("polls only while the live channel is silent", async () => {
    answer(LIST, page([job("j1", { name: "copy" })]))
    show()
    await screen.findByText("copy")
    act(() => FakeSocket.all.at(-1)?.greet())
    expect(requests(LIST)).toHaveLength(1)
  })

  it("offers a viewer no menu of new jobs, but says what is missing", async () => {
    answer(LIST, page([job("j1")]))
    show("/jobs", { me: reader() })
    const create = (await screen.findByText("New job")).closest("button") as HTMLButtonElement
    expect(create.disabled).toBe(true)
    expect(create.getAttribute("aria-description")).toBe("Needs the right: jobs")
  })

  it("leads to both wizards", async () => {
    answer(LIST, page([job("j1")]))
    const { user, address } = show()
    await user.click(await screen.findByText("New job"))
    await user.click(await screen.findByText("Reconcile two sides"))
    await waitFor(() => expect(address()).toBe("/jobs/new/reconcile"))
  })

  it("leads to the dead letters that can be redriven", async () => {
    answer(LIST, page([job("j1")]))
    const { user, address } = show()
    await user.click(await screen.findByText("New job"))
    await user.click(await screen.findByText("Redrive dead letters"))
    await waitFor(() => expect(address()).toBe("/jobs/new/redrive"))
  })

  it("shows on a phone the whole name, the state and how far it is, without a table", async () => {
    onPhone()
    answer(LIST, page([job("j1", { name: "copy", state: "paused" }), job("j2", { name: "look", state: "succeeded", dry_run: true })]))
    const { user, address } = show()
    const row = within((await screen.findByText("copy")).closest("li") as HTMLElement)
    expect(row.getByText("Paused")).toBeTruthy()
    expect(row.getByText(/Replay · 600 . 1 k/)).toBeTruthy()
    expect(screen.getByText(/Replay · 1 k/)).toBeTruthy()
    expect(screen.queryByRole("table")).toBeNull()
    await user.click(screen.getByText("copy"))
    await waitFor(() => expect(address()).toBe("/jobs/j1"))
  })

  it("says that the list could not be read", async () => {
    refuse(LIST, 500, "INTERNAL", "The database does not answer.")
    show()
    expect(await screen.findByText("The jobs could not be read")).toBeTruthy()
  })
})
