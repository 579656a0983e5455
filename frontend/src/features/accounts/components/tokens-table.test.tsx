import { screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { page, token } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { TokensTable } from "./tokens-table"

const LIST = "GET /api/v1/tokens"
const show = (onCreate = vi.fn()) => ({ onCreate, ...renderApp(<TokensTable onCreate={onCreate} />) })

describe("the list of tokens", () => {
  it("shows the first characters, the scopes, and that a token was never used or never expires", async () => {
    answer(LIST, page([token({ name: "ci", prefix: "gty_ab12cd", scopes: ["produce:orders-*", "read"], expires_at: null, last_used_at: null })]))
    show()
    const row = within((await screen.findByText("ci")).closest("tr") as HTMLElement)
    for (const words of ["gty_ab12cd…", "produce:orders-*", "read", "never", "not yet"]) expect(row.getByText(words)).toBeTruthy()
  })

  it("says in words what a token may, from where it was used, and answers whether it may do something", async () => {
    answer(LIST, page([token({ id: 3, name: "ci", scopes: ["produce:orders-*"], last_used_at: "2026-11-21T06:00:00Z", last_used_address: "192.0.2.7" })]))
    answer("POST /api/v1/access:check", { allowed: false, reason: "", user: "admin", token: "ci", roles: ["admin"], decided_by: null, weighed: [] })
    const { user } = show()
    const row = within((await screen.findByText("ci")).closest("tr") as HTMLElement)
    expect(row.getByText("It may produce messages: orders-*.")).toBeTruthy()
    expect(row.getByText("from 192.0.2.7")).toBeTruthy()
    await user.click(row.getByText("May it …?"))
    expect(screen.getByText("May token ci …?")).toBeTruthy()
    await user.type(screen.getByLabelText("Name of the resource"), "payments")
    await waitFor(() => expect(requests("POST /api/v1/access:check")[0]?.body).toEqual({ token: 3, verb: "read", kind: "topic", resource: "payments" }))
    expect(await screen.findByText("No rule allows it, and what no rule allows is refused.")).toBeTruthy()
  })

  it("offers the first token where there is none", async () => {
    answer(LIST, page([]))
    const { user, onCreate } = show()
    await screen.findByText("You have no token yet")
    await user.click(button("Create token"))
    expect(onCreate).toHaveBeenCalledTimes(1)
  })

  it("revokes a token after asking, and takes it off the list", async () => {
    answer(LIST, page([token({ id: 3, name: "ci" })]))
    answer("DELETE /api/v1/tokens/3", null, 204)
    const { user } = show()
    await user.click(within((await screen.findByText("ci")).closest("tr") as HTMLElement).getByText("Revoke"))
    const dialog = within(await screen.findByRole("dialog"))
    expect(dialog.getByText("Revoke token ci")).toBeTruthy()
    expect(requests("DELETE /api/v1/tokens/3")).toHaveLength(0)
    answer(LIST, page([]))
    await user.click(dialog.getByText("Revoke"))
    expect(await screen.findByText("Token ci was revoked")).toBeTruthy()
    await waitFor(() => expect(screen.queryByText("You have no token yet")).not.toBeNull())
  })

  it("revokes nothing when one keeps it", async () => {
    answer(LIST, page([token({ id: 3, name: "ci" })]))
    const { user } = show()
    await user.click(within((await screen.findByText("ci")).closest("tr") as HTMLElement).getByText("Revoke"))
    await user.click(within(await screen.findByRole("dialog")).getByText("Keep it"))
    expect(requests("DELETE /api/v1/tokens/3")).toHaveLength(0)
  })

  it("calls a list that could not be read failed, not empty", async () => {
    refuse(LIST, 500, "INTERNAL", "The database does not answer.")
    show()
    expect(await screen.findByText("The tokens could not be read")).toBeTruthy()
    expect(screen.queryByText("You have no token yet")).toBeNull()
  })
})
