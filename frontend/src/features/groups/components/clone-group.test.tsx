import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { groupSummary } from "@/testing/factories"
import { button, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { CloneGroup } from "./clone-group"

const CLONE = "POST /api/v1/clusters/local/groups/billing:clone"
const made = { ...groupSummary("audit"), brokers: [{ broker: "broker-a", done: true, reason: null }], offsets: [], unknown: [] }
const show = () => renderApp(<CloneGroup cluster="local" source="billing" onClose={vi.fn()} />)

describe("cloning a group", () => {
  it("begins where the other group is, and opens the clone", async () => {
    answer(CLONE, made, 201)
    const { user, address } = show()
    await user.type(await findField("Group"), "audit")
    await user.click(button("Clone to audit"))
    expect(await screen.findByText("Group audit was cloned from billing")).toBeTruthy()
    expect(requests(CLONE).map(({ body }) => body)).toEqual([{ name: "audit", offsets: true }])
    await waitFor(() => expect(address()).toBe("/groups/audit"))
  })

  it("says which positions were not copied, and why", async () => {
    answer(CLONE, { ...made, offsets: [{ topic: "orders", queues: 4, copied: 3, reason: "broker-a refused" }] }, 207)
    const { user } = show()
    await user.type(await findField("Group"), "audit")
    await user.click(button("Clone to audit"))
    expect(await screen.findByText("Group audit was made, but not all of its positions")).toBeTruthy()
    expect(screen.getByText(/orders: 3 of 4 queues were copied/)).toBeTruthy()
  })
})
