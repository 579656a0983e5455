import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { AccessPage } from "./access-page"

const TOKEN = "gty_ab12cd_0123456789abcdef"

it("shows the text of a new token once, and forgets it with the drawer", async () => {
  answer("GET /api/v1/tokens", page([]))
  answer("POST /api/v1/tokens", { id: 1, name: "ci", user: "admin", scopes: ["produce:orders-*"], prefix: "gty_ab12cd", expires_at: null, last_used_at: null, created_at: "2026-11-21T06:00:00Z", token: TOKEN }, 201)
  const { user } = renderApp(<AccessPage />, { at: "/access?new=token" })
  await user.type(await screen.findByLabelText(/^Name/), "ci")
  await user.click(screen.getByLabelText("consume messages"))
  await user.click(screen.getByLabelText("read what the console shows, without bodies"))
  await user.type(screen.getByPlaceholderText("orders-*"), "orders-*")
  await user.click(screen.getByRole("button", { name: "Create ci" }))
  expect(await screen.findByText(TOKEN)).toBeTruthy()
  expect(requests("POST /api/v1/tokens")[0]?.body).toMatchObject({ name: "ci", scopes: ["produce:orders-*"] })
  await user.click(screen.getByRole("button", { name: "I have saved it" }))
  await waitFor(() => expect(screen.queryByText(TOKEN)).toBeNull())
})

it("hides users from those who may not manage them", async () => {
  answer("GET /api/v1/tokens", page([]))
  renderApp(<AccessPage />, { me: reader() })
  await screen.findByText("You have no token yet")
  expect(screen.queryByRole("tab", { name: "Users" })).toBeNull()
})
