import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { job, topic } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ReconcileWizard } from "./reconcile-wizard"

const START = "POST /api/v1/jobs"
const CHOICES = { topics: ["orders", "ledger"], groups: [] }

const reconcile = (query: string) =>
  renderApp(<ReconcileWizard clusters={["local"]} choices={{ left: CHOICES, right: CHOICES }} left={topic("orders")} right={topic("ledger")} />, { at: `/jobs/new/reconcile?zone=UTC&left=orders&right=ledger${query}` })

describe("the range of the right side", () => {
  const FROM = "2026-11-21T00:00:00.000Z"

  it("begins as a copy of the left one, and is then its own", async () => {
    answer(START, job("j3"), 202)
    const { user, address } = reconcile(`&from=${FROM}&step=range&name=nightly`)
    await user.click(await screen.findByText("Its own"))
    const own = within(await screen.findByRole("group", { name: "Range of the right side" }))
    const from = own.getByLabelText("From") as HTMLInputElement
    expect(from.value).toBe("2026-11-21 00:00:00")
    fireEvent.change(from, { target: { value: "2026-11-21 01:30:00" } })
    await waitFor(() => expect(address()).toContain("rfrom=2026-11-21T01"))
    for (const step of ["Compare", "Start"]) await user.click(await screen.findByRole("button", { name: `Next: ${step}` }))
    expect(await screen.findByText(/^21 Nov[ \d]* 01:30 – /)).toBeTruthy()
    await user.click(button("Compare the two topics"))
    await waitFor(() => expect(requests(START)).toHaveLength(1))
    expect(requests(START)[0]?.body).toMatchObject({ left: { from: FROM }, right: { from: "2026-11-21T01:30:00.000Z" } })
  })

  it("is that of the left one again without a trace of its own", async () => {
    const { user, address } = reconcile(`&from=${FROM}&rrange=own&rfrom=${FROM}&step=range`)
    await user.click(await screen.findByText("Same as the left"))
    await waitFor(() => expect(address()).not.toMatch(/rrange|rfrom/))
    expect(screen.queryByRole("group", { name: "Range of the right side" })).toBeNull()
  })
})
