import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { button, field, findField, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { DeleteGroup } from "./delete-group"

const IMPACT = "GET /api/v1/clusters/local/groups/billing/impact"
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

  it("says whom it hits, what is out and what stays, and deletes the group as it was then", async () => {
    const kept = [{ name: "%DLQ%billing", messages: 12, unknown_reason: null }]
    answer(IMPACT, { clients: 1, lease_consumers: 1, leases: 3, lag: 1_204, topics: ["orders"], kept, unknown_reason: null }, 200, { ETag: '"seen"' })
    answer(REMOVE, null, 204)
    const { user } = show()
    expect(await screen.findByText("2 clients read with it and will be served as a new group.")).toBeTruthy()
    expect(screen.getByText("3 messages are out and can no longer be settled.")).toBeTruthy()
    expect(screen.getByText("Its position in orders is lost.")).toBeTruthy()
    expect(screen.getByText("1,204 messages have not been consumed.")).toBeTruthy()
    expect(screen.getByText("%DLQ%billing stays, with 12 messages.")).toBeTruthy()
    await user.type(await findField("Type billing to continue"), "billing{Enter}")
    await waitFor(() => expect(requests(REMOVE)[0]?.headers.get("If-Match")).toBe('"seen"'))
  })

  it("shows what is unknown as unknown", async () => {
    answer(IMPACT, { clients: null, lease_consumers: 0, leases: null, lag: null, topics: ["orders"], kept: [], unknown_reason: "broker_unreachable" })
    show()
    expect(await screen.findByText("It is not known who reads with it.")).toBeTruthy()
    expect(screen.getByText("It is not known how many messages are out.")).toBeTruthy()
    expect(screen.getByText("It is not known how many messages have not been consumed.")).toBeTruthy()
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
