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
