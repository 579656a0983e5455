import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { admin } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { CreateUser } from "./create-user"

const CREATE = "POST /api/v1/users"
const show = (me = admin()) => {
  const onClose = vi.fn()
  return { onClose, ...renderApp(<CreateUser onClose={onClose} />, { me }) }
}

describe("the form of a new user", () => {
  it("creates a viewer unless another role is chosen, and closes", async () => {
    answer(CREATE, { id: 7, username: "nadia" }, 201)
    const { user, onClose } = show()
    await user.type(await findField("User"), "nadia")
    await user.type(field("New password"), "long enough")
    await user.click(button("Create user"))
    await waitFor(() => expect(onClose).toHaveBeenCalledTimes(1))
    expect(requests(CREATE)[0]?.body).toEqual({ username: "nadia", role: "viewer", own_roles: [], password: "long enough" })
    expect(screen.getByText("User nadia was created")).toBeTruthy()
  })

  it.each([
    ["no name", "", "long enough"],
    ["a name of blanks", "   ", "long enough"],
    ["a name that the API refuses", "bo b!", "long enough"],
    ["a password of seven characters", "nadia", "1234567"],
  ])("does not send with %s", async (_what, name, password) => {
    show()
    fireEvent.change(await findField("User"), { target: { value: name } })
    fireEvent.change(field("New password"), { target: { value: password } })
    fireEvent.submit(field("User").form as HTMLFormElement)
    expect(requests(CREATE)).toHaveLength(0)
  })

  it("states the rule for names, and marks a name against it", async () => {
    show()
    expect(await screen.findByText("Letters, digits and . _ @ + -, at most 150 characters")).toBeTruthy()
    fireEvent.change(field("User"), { target: { value: "bo b!" } })
    expect(errorOf(field("User"))).toBe("Use only letters, digits and . _ @ + -, and at most 150 characters")
    fireEvent.change(field("User"), { target: { value: "bo.b@example-1" } })
    expect(errorOf(field("User"))).toBeUndefined()
  })

  it("shows at the fields what the API says, and stays open", async () => {
    refuseFields(CREATE, { username: "A user of this name exists.", password: "This password is too common." })
    const { user, onClose } = show()
    await user.type(await findField("User"), "admin")
    await user.type(field("New password"), "password1")
    await user.click(button("Create user"))
    await waitFor(() => expect(errorOf(field("User"))).toBe("A user of this name exists."))
    expect(errorOf(field("New password"))).toBe("This password is too common.")
    expect(onClose).not.toHaveBeenCalled()
  })

  it("takes back what was said of a field once that is changed, and only of that", async () => {
    refuseFields(CREATE, { username: "A user of this name exists.", password: "This password is too common." })
    const { user } = show()
    await user.type(await findField("User"), "admin")
    await user.type(field("New password"), "password1")
    await user.click(button("Create user"))
    await waitFor(() => expect(errorOf(field("User"))).toBeDefined())
    await user.type(field("New password"), "2")
    expect(errorOf(field("New password"))).toBeUndefined()
    expect(errorOf(field("User"))).toBe("A user of this name exists.")
  })

  it("keeps the form and gives the request id when the gateway fails", async () => {
    refuse(CREATE, 500, "INTERNAL", "Something broke.")
    const { user, onClose } = show()
    await user.type(await findField("User"), "nadia")
    await user.type(field("New password"), "long enough")
    await user.click(button("Create user"))
    expect(await screen.findByText(/Something broke/)).toBeTruthy()
    expect(screen.getByText("Request 01JDX6R8K3ZC5W2N")).toBeTruthy()
    expect(field("User").value).toBe("nadia")
    expect(onClose).not.toHaveBeenCalled()
  })

  it("is locked for an operator who came by a link", async () => {
    show(admin({ role: "operator", rights: ["produce", "consume", "read", "manage", "jobs"] }))
    expect((await findField("User")).closest("fieldset")?.disabled).toBe(true)
  })
})
