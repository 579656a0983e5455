import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { admin, page, userRow } from "@/testing/factories"
import { choose, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { UsersTable } from "./users-table"

const CHANGE = "PATCH /api/v1/users/7"
const REMOVE = "DELETE /api/v1/users/7"
const rowOf = async (name: string) => (await screen.findAllByText(name))[0]?.closest("tr") as HTMLElement

beforeEach(() => {
  answer("GET /api/v1/roles", { items: [], kinds: [] })
  answer("GET /api/v1/users", page([userRow({ id: 1, username: "admin", role: "admin", etag: '"a1"' }), userRow({ id: 7, username: "nadia", role: "viewer", etag: '"n4"' })]))
})

describe("the list of users", () => {
  it("does not let one take one's own role away or delete oneself", async () => {
    renderApp(<UsersTable />, { me: admin({ id: 1 }) })
    const own = await rowOf("admin")
    expect(within(own).getByLabelText<HTMLInputElement>("Role").disabled).toBe(true)
    expect(within(own).getByText("you")).toBeTruthy()
    expect(within(own).queryByText("Delete")).toBeNull()
  })

  it("changes a role with the tag that was read, so that nobody's change is overwritten", async () => {
    answer(CHANGE, userRow({ id: 7, username: "nadia", role: "operator" }))
    const { user } = renderApp(<UsersTable />)
    await choose(user, within(await rowOf("nadia")).getByLabelText("Role"), "Operator")
    expect(await screen.findByText("The role of nadia was changed")).toBeTruthy()
    expect(requests(CHANGE)[0]?.body).toEqual({ role: "operator", own_roles: [] })
    expect(requests(CHANGE)[0]?.headers.get("If-Match")).toBe('"n4"')
  })

  it("says that a role was not changed, and shows the one that holds", async () => {
    refuse(CHANGE, 412, "PRECONDITION_FAILED", "The user was changed since.")
    const { user } = renderApp(<UsersTable />)
    await choose(user, within(await rowOf("nadia")).getByLabelText("Role"), "Admin")
    expect(await screen.findByText("The role of nadia was not changed")).toBeTruthy()
    expect(within(await rowOf("nadia")).getAllByText("Viewer").length).toBeGreaterThan(0)
    await waitFor(() => expect(requests("GET /api/v1/users").length).toBeGreaterThan(1))
  })

  it("deletes a user only after the whole name was typed", async () => {
    answer(REMOVE, null, 204)
    const { user } = renderApp(<UsersTable />)
    await user.click(within(await rowOf("nadia")).getByText("Delete"))
    const dialog = within(await screen.findByRole("dialog"))
    const confirm = () => dialog.getByText("Delete user").closest("button") as HTMLButtonElement
    const name = dialog.getByLabelText("Type nadia to continue")
    await retype(user, name, "nadi")
    expect(confirm().disabled).toBe(true)
    await retype(user, name, "nadia")
    await user.click(confirm())
    expect(await screen.findByText("User nadia was deleted")).toBeTruthy()
    expect(requests(REMOVE)).toHaveLength(1)
  })

  it("asks for no users without the right to manage them", () => {
    renderApp(<UsersTable />, { me: admin({ role: "operator", rights: ["read", "manage"] }) })
    expect(requests("GET /api/v1/users")).toHaveLength(0)
  })
})
