import { screen, waitFor } from "@testing-library/react"
import { expect, it, vi } from "vitest"
import { admin } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { LoginPage } from "./login-page"

async function signIn(onDone = vi.fn()) {
  answer("GET /api/v1/csrf", null, 204)
  const { user } = renderApp(<LoginPage onDone={onDone} />)
  await user.type(await screen.findByLabelText("User name"), "admin")
  await user.type(screen.getByLabelText("Password"), "secret")
  await user.click(screen.getByRole("button", { name: "Sign in" }))
  return onDone
}

it("fetches the cookie against cross-site requests, signs in, and goes on", async () => {
  answer("POST /api/v1/login", admin())
  const onDone = await signIn()
  await waitFor(() => expect(onDone).toHaveBeenCalled())
  expect(requests("GET /api/v1/csrf")).toHaveLength(1)
  expect(requests("POST /api/v1/login")[0]).toMatchObject({ body: { username: "admin", password: "secret" } })
  expect(requests("POST /api/v1/login")[0]?.headers.get("X-CSRFToken")).toBe("kept-secret")
})

it("says that name and password do not match without telling which", async () => {
  refuse("POST /api/v1/login", 401, "WRONG_CREDENTIALS", "No such user.")
  const onDone = await signIn()
  expect(await screen.findByText("User name and password do not match.")).toBeTruthy()
  expect(onDone).not.toHaveBeenCalled()
})

it("shows what else went wrong with its request id", async () => {
  refuse("POST /api/v1/login", 503, "DATABASE", "The database does not answer.")
  await signIn()
  expect(await screen.findByText(/The database does not answer.*01JDX6R8K3ZC5W2N/)).toBeTruthy()
})

it("asks nobody while a field is empty, and says which", async () => {
  const { user } = renderApp(<LoginPage onDone={vi.fn()} />)
  await user.type(await screen.findByLabelText("User name"), "olga")
  await user.click(screen.getByRole("button", { name: "Sign in" }))
  expect(screen.getAllByText("Fill in this field")).toHaveLength(1)
  expect(requests("POST /api/v1/login")).toHaveLength(0)
})
