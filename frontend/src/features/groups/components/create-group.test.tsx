import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { groupSummary, reader } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { CreateGroup } from "./create-group"

const CREATE = "POST /api/v1/clusters/local/groups"
const taken = (name: string) => ({ ...groupSummary(name), brokers: [{ broker: "broker-a", done: true, reason: null }] })
const show = (onClose = vi.fn()) => ({ onClose, ...renderApp(<CreateGroup cluster="local" onClose={onClose} />) })

describe("the form of a new group", () => {
  it("sends what is filled in, says so, and opens the group", async () => {
    answer(CREATE, taken("billing"), 201)
    const { user, address } = show()
    await user.type(await findField("Group"), "billing")
    await retype(user, field("Maximum retries"), "3")
    await user.click(screen.getByLabelText("May consume"))
    await user.click(button("Create billing"))
    expect(await screen.findByText("Group billing was created")).toBeTruthy()
    expect(requests(CREATE).map(({ body }) => body)).toEqual([{ name: "billing", retry_max_times: 3, consume_enabled: false }])
    await waitFor(() => expect(address()).toBe("/groups/billing"))
  })

  it.each(["%DLQ%billing", "a|b", "x".repeat(121)])("refuses the name %s at the field", async (name) => {
    show()
    fireEvent.change(await findField("Group"), { target: { value: name } })
    expect(errorOf(field("Group"))).toContain("at most 120 characters")
    expect(button(`Create ${name}`).disabled).toBe(true)
  })

  it("names its own limit: a group is shorter than a topic, by its prefixes", async () => {
    show()
    fireEvent.change(await findField("Group"), { target: { value: "x".repeat(120) } })
    expect(errorOf(field("Group"))).toBeUndefined()
  })

  it.each(["5000", ""])("creates nothing with the number of retries %s, and names the range", async (typed) => {
    const { user } = show()
    await user.type(await findField("Group"), "billing")
    await retype(user, field("Maximum retries"), typed)
    await user.tab()
    expect(errorOf(field("Maximum retries"))).toBe("A whole number from 0 to 1,000")
    expect(button("Create billing").disabled).toBe(true)
  })

  it("shows at each field what the API says against it", async () => {
    refuseFields(CREATE, { name: "CID_RMQ_SYS_x is kept by the brokers.", retry_max_times: "At most 1000." })
    const { user } = show()
    await user.type(await findField("Group"), "CID_RMQ_SYS_x")
    await user.click(button("Create CID_RMQ_SYS_x"))
    await waitFor(() => expect(errorOf(field("Group"))).toBe("CID_RMQ_SYS_x is kept by the brokers."))
    expect(errorOf(field("Maximum retries"))).toBe("At most 1000.")
  })

  it("is locked for a viewer, and sends nothing even by Enter", async () => {
    renderApp(<CreateGroup cluster="local" onClose={vi.fn()} />, { me: reader() })
    const name = await findField("Group")
    expect(name.closest("fieldset")?.disabled).toBe(true)
    fireEvent.submit(name.form as HTMLFormElement)
    expect(requests(CREATE)).toHaveLength(0)
  })
})
