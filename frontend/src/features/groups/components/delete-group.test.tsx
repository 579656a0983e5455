import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { button, field, findField, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { DeleteGroup } from "./delete-group"

const REMOVE = "DELETE /api/v1/clusters/local/groups/billing"
const show = () => {
  const onClose = vi.fn()
  return { onClose, ...renderApp(<DeleteGroup cluster="local" group="billing" onClose={onClose} />, { at: "/groups/billing" }) }
}

describe("deleting a group", () => {
  it("says what is lost, and takes the whole name before it deletes", async () => {
    answer(REMOVE, null, 204)
    const { user, address } = show()
    await findField("Type billing to continue")
    expect(screen.getByText(/Its positions in all queues are lost/)).toBeTruthy()
    expect(button("Delete billing").disabled).toBe(true)
    await retype(user, field("Type billing"), "billing")
    await user.click(button("Delete billing"))
    expect(await screen.findByText("Group billing was deleted")).toBeTruthy()
    await waitFor(() => expect(address()).toBe("/groups"))
  })

  it("takes no other name, not even by Enter", async () => {
    const { user } = show()
    await user.type(await findField("Type billing to continue"), "Billing{Enter}")
    expect(requests(REMOVE)).toHaveLength(0)
  })

  it("stays where it is when the brokers refuse", async () => {
    refuse(REMOVE, 502, "BROKER_REFUSED", "broker-a refused: no permission")
    const { user, address } = show()
    await user.type(await findField("Type billing to continue"), "billing{Enter}")
    expect(await screen.findByText("Group billing was not deleted")).toBeTruthy()
    expect(address()).toBe("/groups/billing")
  })

  it("names the brokers that still have it, and offers to try those again", async () => {
    answer(REMOVE, { brokers: [{ broker: "broker-a", done: true, reason: null }, { broker: "broker-b", done: false, reason: "broker-b is not listed by any name server" }] }, 207)
    const { user } = show()
    await user.type(await findField("Type billing to continue"), "billing{Enter}")
    expect(await screen.findByText("Group billing was deleted, but not on every broker")).toBeTruthy()
    expect(screen.getByText("broker-b did not: broker-b is not listed by any name server")).toBeTruthy()
  })

  it("does nothing when one keeps it", async () => {
    const { user, onClose } = show()
    await findField("Type billing to continue")
    await user.click(button("Keep it"))
    expect(onClose).toHaveBeenCalledTimes(1)
    expect(requests(REMOVE)).toHaveLength(0)
  })
})
