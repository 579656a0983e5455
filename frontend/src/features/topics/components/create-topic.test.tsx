import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { admin, topic } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { CreateTopic } from "./create-topic"

const CREATE = "POST /api/v1/clusters/local/topics"
const taken = (name: string) => ({ ...topic(name), brokers: [{ broker: "broker-a", done: true, reason: null }] })
const show = (onClose = vi.fn()) => ({ onClose, ...renderApp(<CreateTopic cluster="local" onClose={onClose} />) })

describe("the form of a new topic", () => {
  it("sends what is filled in, says so, and opens the topic", async () => {
    answer(CREATE, taken("payments"), 201)
    const { user, address } = show()
    await user.type(await findField("Topic"), "payments")
    await user.type(field("Read queues"), "8", { initialSelectionStart: 0, initialSelectionEnd: 1 })
    await user.click(screen.getByText("Read only"))
    await user.click(button("Create payments"))
    expect(await screen.findByText("Topic payments was created")).toBeTruthy()
    expect(requests(CREATE).map(({ body }) => body)).toEqual([{ name: "payments", read_queues: 8, write_queues: 4, permission: "r" }])
    await waitFor(() => expect(address()).toBe("/topics/payments"))
  })

  it("declares a message type only when one was chosen", async () => {
    answer(CREATE, taken("payments"), 201)
    const { user } = show()
    await user.type(await findField("Topic"), "payments")
    await user.click(field("Message type"))
    await user.click(await screen.findByRole("option", { name: "Ordered", hidden: true }))
    await user.click(button("Create payments"))
    await waitFor(() => expect(requests(CREATE).map(({ body }) => body)).toEqual([{ name: "payments", read_queues: 4, write_queues: 4, permission: "rw", message_type: "fifo" }]))
  })

  it("locks transactions where the cluster refuses them, with the reason", async () => {
    answer("GET /api/v1/clusters/local", { capabilities: [{ name: "transaction", state: "no", value: null, reason: null }] })
    const { user } = show()
    await user.click(await findField("Message type"))
    const option = await screen.findByRole("option", { name: "Transaction · This cluster lacks transactions", hidden: true })
    expect(option.getAttribute("data-combobox-disabled")).toBe("true")
  })

  it("takes over the settings of another topic, but not its name", async () => {
    answer(CREATE, taken("payments"), 201)
    const like = { ...topic("orders", { read_queues: 6, write_queues: 2, permission: "none", message_type: "fifo" }), order: false, brokers: ["broker-a"] }
    const { user } = renderApp(<CreateTopic cluster="local" like={like} onClose={vi.fn()} />)
    await user.type(await findField("Topic"), "payments")
    await user.click(button("Create payments"))
    await waitFor(() => expect(requests(CREATE).map(({ body }) => body)).toEqual([{ name: "payments", read_queues: 6, write_queues: 2, permission: "rw", message_type: "fifo" }]))
  })

  it.each(["%RETRY%billing", "a|b", "with space", "é", "x".repeat(128)])("refuses the name %s at the field, by the rule of the API", async (name) => {
    show()
    fireEvent.change(await findField("Topic"), { target: { value: name } })
    expect(errorOf(field("Topic"))).toContain("at most 127 characters")
    expect(button(`Create ${name}`).disabled).toBe(true)
  })

  it.each(["a", "orders-2", "Orders_EU", "x".repeat(127)])("takes the name %s", async (name) => {
    show()
    fireEvent.change(await findField("Topic"), { target: { value: name } })
    expect(errorOf(field("Topic"))).toBeUndefined()
    expect(button(`Create ${name}`).disabled).toBe(false)
  })

  it.each(["999999", "0", "-5", ""])("keeps the number of queues %s as typed, names the range, and creates nothing", async (typed) => {
    const { user } = show()
    await user.type(await findField("Topic"), "payments")
    await retype(user, field("Read queues"), typed)
    await user.tab()
    expect(field("Read queues").value.replace(",", "")).toBe(typed)
    expect(errorOf(field("Read queues"))).toBe("A whole number from 1 to 1,024")
    expect(button("Create payments").disabled).toBe(true)
    fireEvent.submit(field("Topic").form as HTMLFormElement)
    expect(requests(CREATE)).toHaveLength(0)
  })

  it("shows at each field what the API says against it, and stays open as it was", async () => {
    refuseFields(CREATE, { name: "TBW102 is reserved.", write_queues: "At most 64 here." })
    const { user, address } = show()
    await user.type(await findField("Topic"), "TBW102")
    await user.click(button("Create TBW102"))
    await waitFor(() => expect(errorOf(field("Topic"))).toBe("TBW102 is reserved."))
    expect(errorOf(field("Write queues"))).toBe("At most 64 here.")
    expect(field("Topic").value).toBe("TBW102")
    expect(address()).toBe("/")
  })

  it("sends once for two clicks in a row", async () => {
    answer(CREATE, () => ({ status: 201, body: taken("payments") }))
    const { user } = show()
    await user.type(await findField("Topic"), "payments")
    const form = field("Topic").form as HTMLFormElement
    fireEvent.submit(form)
    fireEvent.submit(form)
    await screen.findByText("Topic payments was created")
    expect(requests(CREATE)).toHaveLength(1)
  })

  it("keeps what was typed when the cluster does not answer", async () => {
    refuse(CREATE, 503, "BROKER_UNREACHABLE", "No broker answered.")
    const { user } = show()
    await user.type(await findField("Topic"), "payments")
    await user.click(button("Create payments"))
    expect(await screen.findByText("Topic payments was not created")).toBeTruthy()
    expect(field("Topic").value).toBe("payments")
    expect(button("Create payments").disabled).toBe(false)
  })

  it("is discarded by Cancel without a request", async () => {
    const { user, onClose } = show()
    await user.type(await findField("Topic"), "payments")
    await user.click(button("Cancel"))
    expect(onClose).toHaveBeenCalledTimes(1)
    expect(requests(CREATE)).toHaveLength(0)
  })

  it("is locked for a developer, with the right that is missing", async () => {
    renderApp(<CreateTopic cluster="local" onClose={vi.fn()} />, { me: admin({ role: "developer", rights: ["produce", "consume", "read"] }) })
    expect((await findField("Topic")).closest("fieldset")?.disabled).toBe(true)
    expect(screen.getByText(/This needs the right “manage”, which the role Developer does not have/)).toBeTruthy()
  })

  it("lets the API decide while its rule is not known", async () => {
    refuse("GET /api/v1/naming", 503, "DRAINING", "Shutting down.")
    const { cache } = show()
    cache.removeQueries({ queryKey: ["naming"] })
    fireEvent.change(await findField("Topic"), { target: { value: "a|b" } })
    await waitFor(() => expect(button("Create a|b").disabled).toBe(false))
    expect(errorOf(field("Topic"))).toBeUndefined()
  })
})
