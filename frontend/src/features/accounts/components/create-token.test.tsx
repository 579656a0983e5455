import { fireEvent, screen, waitFor } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { admin, newToken } from "@/testing/factories"
import { button, choose, field, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { CreateToken } from "./create-token"

const CREATE = "POST /api/v1/tokens"
const NOW = Date.parse("2026-11-21T06:00:00Z")
const developer = () => admin({ role: "developer", rights: ["produce", "consume", "read"] })

function show(me = admin()) {
  const onClose = vi.fn()
  answer("GET /api/v1/tokens", { items: [], next_cursor: null, total: 0 })
  return { onClose, ...renderApp(<CreateToken onClose={onClose} />, { me }) }
}

beforeEach(() => {
  vi.spyOn(Date, "now").mockReturnValue(NOW)
})

afterEach(() => vi.restoreAllMocks())

describe("the form of a new token", () => {
  it("asks for what a program needs, for 90 days, unless told otherwise", async () => {
    answer(CREATE, newToken(), 201)
    const { user } = show()
    await user.type(await findField("Name"), "  ci ")
    await user.click(button("Create ci"))
    await waitFor(() => expect(requests(CREATE)).toHaveLength(1))
    expect(requests(CREATE)[0]?.body).toEqual({ name: "ci", scopes: ["produce", "consume", "read"], expires_at: "2027-02-19T06:00:00.000Z" })
  })

  it("narrows each right to topics, and consuming to groups", async () => {
    answer(CREATE, newToken(), 201)
    const { user } = show()
    await user.type(await findField("Name"), "ci")
    await user.click(screen.getByLabelText("read what the console shows, without bodies"))
    await user.type(screen.getByPlaceholderText("orders-*"), "orders-* audit")
    await user.type(screen.getByPlaceholderText("billing*"), "billing")
    expect(screen.getByRole("status").textContent).toBe("It may produce messages: orders-* and audit; consume messages: orders-* with the groups billing and audit with the groups billing.")
    await user.click(button("Create ci"))
    await waitFor(() => expect(requests(CREATE)).toHaveLength(1))
    expect(requests(CREATE)[0]?.body).toMatchObject({
      scopes: ["produce:orders-*", "produce:audit", "consume:orders-*@billing", "consume:audit@billing"],
    })
  })

  it("never expires only when that was chosen", async () => {
    answer(CREATE, newToken(), 201)
    const { user } = show()
    await user.type(await findField("Name"), "ci")
    await choose(user, field("Expires"), "never")
    await user.click(button("Create ci"))
    await waitFor(() => expect(requests(CREATE)[0]?.body).toMatchObject({ expires_at: null }))
  })

  it("asks for groups only while consuming is ticked", async () => {
    const { user } = show()
    await findField("Name")
    expect(screen.queryByPlaceholderText("billing*")).not.toBeNull()
    await user.click(screen.getByLabelText("consume messages"))
    expect(screen.queryByPlaceholderText("billing*")).toBeNull()
  })

  it("gives no right that its user does not have, and says which is missing", async () => {
    show(developer())
    await findField("Name")
    expect(screen.getByLabelText<HTMLInputElement>(/create and change topics/).disabled).toBe(true)
    expect(screen.getByText("Needs the right: manage")).toBeTruthy()
    expect(screen.getByLabelText<HTMLInputElement>("produce messages").disabled).toBe(false)
  })

  it("is not sent without a name, nor without a right", async () => {
    const { user } = show()
    fireEvent.submit((await findField("Name")).form as HTMLFormElement)
    await user.type(field("Name"), "ci")
    for (const right of ["produce messages", "consume messages", "read what the console shows, without bodies"]) await user.click(screen.getByLabelText(right))
    expect(button("Create ci").disabled).toBe(true)
    fireEvent.submit(field("Name").form as HTMLFormElement)
    expect(requests(CREATE)).toHaveLength(0)
  })

  it("keeps the form when the API refuses", async () => {
    refuse(CREATE, 409, "ALREADY_EXISTS", "You have a token of this name.")
    const { user } = show()
    await user.type(await findField("Name"), "ci")
    await user.click(button("Create ci"))
    expect(await screen.findByText("Token ci was not created")).toBeTruthy()
    expect(field("Name").value).toBe("ci")
  })

  it("shows the text in the place of the form, and closes only when it was kept", async () => {
    answer(CREATE, newToken({ token: "gty_secret" }), 201)
    const { user, onClose } = show()
    await user.type(await findField("Name"), "ci")
    await user.click(button("Create ci"))
    expect(await screen.findByText("gty_secret")).toBeTruthy()
    expect(screen.queryByLabelText(/^Name/)).toBeNull()
    expect(onClose).not.toHaveBeenCalled()
    await user.click(button("I have saved it"))
    expect(onClose).toHaveBeenCalledTimes(1)
  })
})
