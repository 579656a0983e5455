import { screen, waitFor } from "@testing-library/react"
import i18next from "i18next"
import { expect, it } from "vitest"
import type { Role, RoleList } from "@/lib/api-types"
import { page, userRow } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { RolesPanel } from "./roles-panel"

const role = (overrides: Partial<Role> = {}): Role => ({
  name: "oncall",
  description: "",
  built_in: false,
  rules: [{ kind: "topic", pattern: "orders*", allow: ["read"], refuse: [] }],
  members: ["nadia"],
  member_count: 1,
  etag: '"1"',
  ...overrides,
})
const list: RoleList = {
  items: [role({ name: "viewer", built_in: true, members: [], member_count: 0 }), role()],
  kinds: [{ kind: "topic", verbs: ["read", "bodies", "produce"] }],
}

function open(at: string) {
  answer("GET /api/v1/roles", list)
  answer("GET /api/v1/users", page([userRow()]))
  answer("POST /api/v1/access:coverage", { items: [{ kind: "topic", pattern: "orders*", count: 4, names: ["orders-eu"], unknown_reason: null }] })
  return renderApp(<RolesPanel />, { at })
}

it("boxes a changed cell, says what it means, and saves all at once", async () => {
  answer("PATCH /api/v1/roles/oncall", role())
  const { user } = open("/access?tab=roles&role=oncall")
  const cell = await screen.findByLabelText("Topic orders*, read bodies: nothing said")
  await user.click(cell)
  expect(screen.getByLabelText("Topic orders*, read bodies: allowed").dataset.unsaved).toBe("true")
  expect(await screen.findByText(/1 user may, on 4 names now/)).toBeTruthy()
  await user.click(button("Save 1 change"))
  expect(requests("PATCH /api/v1/roles/oncall")[0]?.body).toEqual({ rules: [{ kind: "topic", pattern: "orders*", allow: ["read", "bodies"], refuse: [] }] })
})

it("makes a role without rules, and one like the chosen one", async () => {
  answer("POST /api/v1/roles", role({ name: "night" }), 201)
  const { user } = open("/access?tab=roles&role=oncall")
  await user.type(await screen.findByLabelText("name of a new role"), "night")
  await user.click(button("New role without rules"))
  await waitFor(() => expect(requests("POST /api/v1/roles")[0]?.body).toEqual({ name: "night", description: "", rules: [] }))
  await user.type(screen.getByLabelText("name of a new role"), "day")
  await user.click(button("Copy viewer"))
  await waitFor(() => expect(requests("POST /api/v1/roles")[1]?.body).toEqual({ name: "day", description: "", rules: role().rules }))
})

it("saves that a rule which says one thing is gone", async () => {
  answer("PATCH /api/v1/roles/oncall", role({ rules: [] }))
  const { user } = open("/access?tab=roles&role=oncall")
  await user.click(await screen.findByLabelText("Remove the rule Topic orders*"))
  await user.click(button("Save 1 change"))
  expect(requests("PATCH /api/v1/roles/oncall")[0]?.body).toEqual({ rules: [] })
})

it("calls a built-in role as the other tabs do, and in Chinese by its name too", async () => {
  open("/access?tab=roles&role=viewer")
  expect(await screen.findAllByText("Viewer")).toHaveLength(2)
  await i18next.changeLanguage("zh")
  expect(await screen.findAllByText("只读（viewer）")).toHaveLength(2)
  await i18next.changeLanguage("en")
})

it("locks the built-in roles", async () => {
  open("/access?tab=roles&role=viewer")
  expect(await screen.findByText("Built-in roles cannot be changed. Copy it under another name.")).toBeTruthy()
  expect(screen.getByLabelText<HTMLButtonElement>("Topic orders*, read: allowed").disabled).toBe(true)
})
