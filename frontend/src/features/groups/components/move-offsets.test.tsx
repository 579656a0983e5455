import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { groupSummary, page } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { GroupsPage } from "./groups-page"

const AT = "POST /api/v1/clusters/local/groups/offsets"
const planned = { group: "g-a", topic: "orders", outcome: "planned", reason: null, plan_id: "p1", lag: 2, new_lag: 1_205, to_replay: 1_203, skipped: 0, members: 2, warnings: ["clamped"], unknown: [] }
const refused = { ...planned, group: "g-b", topic: null, outcome: "refused", reason: "the group has no offset in any topic", plan_id: null, lag: null, new_lag: null, to_replay: null, skipped: null, members: null, warnings: [] }

async function open() {
  answer("GET /api/v1/clusters/local/groups", page([groupSummary("g-a"), groupSummary("g-b")]))
  const { user } = renderApp(<GroupsPage cluster="local" />, { at: "/groups" })
  for (const name of ["g-a", "g-b"]) await user.click(await screen.findByLabelText(`Choose ${name}`))
  await user.click(button("Move offsets…"))
  await screen.findByText("Move offsets of 2 groups")
  return user
}

describe("a move of many groups", () => {
  it("shows what it means for each, applies the plans there are, and leads all of them back", async () => {
    const user = await open()
    // Without a time there is nothing to ask for.
    expect(button("Preview").disabled).toBe(true)
    await user.click(screen.getByText("Earliest"))
    answer(`${AT}:preview`, { items: [planned, refused] })
    await user.click(button("Preview"))
    expect(await screen.findByText("1,203 again · as far as the queue goes")).toBeTruthy()
    expect(screen.getByText("1,205")).toBeTruthy()
    expect(screen.getByText(/is left out: the group has no offset/)).toBeTruthy()
    expect(screen.getByText(/2 clients are connected/)).toBeTruthy()
    expect(requests(`${AT}:preview`)[0]?.body).toEqual({ groups: ["g-a", "g-b"], mode: "earliest" })

    answer(`${AT}:apply`, { items: [{ group: "g-a", topic: "orders", outcome: "done", reason: null, snapshot_id: "s1" }] })
    await user.click(button("Apply 1 plan"))
    expect(await screen.findByText(/Done: 1 of 1 plans/)).toBeTruthy()
    expect(requests(`${AT}:apply`)[0]?.body).toEqual({ plans: [{ group: "g-a", plan_id: "p1" }] })
    const links = screen.getAllByRole("link", { name: "g-a" }).map((link) => link.getAttribute("href"))
    expect(links.some((href) => href?.endsWith("/groups/g-a/offsets"))).toBe(true)

    answer(`${AT}:undo`, { items: [{ group: "g-a", topic: "orders", outcome: "failed", reason: "This change was already undone.", snapshot_id: null }] }, 207)
    await user.click(button("Undo all"))
    expect(await screen.findByText("Undone: 0 of 1 changes.")).toBeTruthy()
    expect(requests(`${AT}:undo`)[0]?.body).toEqual({ snapshots: [{ group: "g-a", snapshot_id: "s1" }] })
  })

  it("asks again when something else is wanted than what was previewed", async () => {
    const user = await open()
    await user.click(screen.getByText("Latest"))
    answer(`${AT}:preview`, { items: [{ ...planned, members: null }] })
    await user.click(button("Preview"))
    expect(await screen.findByText(/It is not known how many clients/)).toBeTruthy()
    await user.click(screen.getByText("Earliest"))
    expect(screen.queryByText("Apply 1 plan")).toBeNull()
    expect(button("Preview").disabled).toBe(false)
  })
})
