import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { groupSummary, page } from "@/testing/factories"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { GroupsPage } from "./groups-page"

const LIST = "GET /api/v1/clusters/local/groups"
const PAUSE = "POST /api/v1/clusters/local/groups:pause"
const DELETE = "POST /api/v1/clusters/local/groups:delete"
const planned = { outcome: "planned", reason: null, consume_enabled: true, clients: 1, lease_consumers: 1, leases: null, lag: 1_204, topics: ["orders"], brokers: [] }

async function choose(...names: string[]) {
  answer(LIST, page([groupSummary("g-a"), groupSummary("g-b")]))
  const shown = renderApp(<GroupsPage cluster="local" />, { at: "/groups" })
  for (const name of names) await shown.user.click(await screen.findByLabelText(`Choose ${name}`))
  return shown
}

describe("a change of many groups", () => {
  it("says what is hit and what is left out, and changes them as they were then", async () => {
    const left = { ...planned, name: "g-b", outcome: "refused", reason: "'g-b' belongs to the brokers" }
    answer(PAUSE, { items: [{ ...planned, name: "g-a" }, left] }, 200, { ETag: '"seen"' })
    const { user } = await choose("g-a", "g-b")
    expect(screen.getByText("2 groups chosen")).toBeTruthy()
    await user.click(button("Pause"))
    expect(await screen.findByText("clients: 2 · out: unknown · lag: 1,204")).toBeTruthy()
    expect(screen.getByText(/is left out: 'g-b' belongs to the brokers/)).toBeTruthy()
    answer(PAUSE, { items: [{ ...planned, name: "g-a", outcome: "done" }, left] }, 207)
    await user.click(button("Pause 1 group"))
    expect(await screen.findByText("Done for 1 of 2 groups")).toBeTruthy()
    const sent = requests(PAUSE).at(-1)
    expect([sent?.body, sent?.headers.get("If-Match"), sent?.query.get("dry_run")]).toEqual([{ groups: ["g-a", "g-b"] }, '"seen"', null])
    // What was not reached stays chosen.
    expect(screen.getByText("1 group chosen")).toBeTruthy()
  })

  it("takes the number of groups before it deletes them", async () => {
    answer(DELETE, { items: [{ ...planned, name: "g-a" }] })
    const { user } = await choose("g-a")
    await user.click(button("Delete"))
    const field = await findField("Type 1 to continue")
    expect(button("Delete 1 group").disabled).toBe(true)
    answer(DELETE, { items: [{ ...planned, name: "g-a", outcome: "done" }] })
    await user.type(field, "1{Enter}")
    expect(await screen.findByText("1 group: done")).toBeTruthy()
    await waitFor(() => expect(screen.queryByText("1 group chosen")).toBeNull())
  })
})
