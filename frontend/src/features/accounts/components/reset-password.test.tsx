import { screen, waitFor, within } from "@testing-library/react"
import { expect, it } from "vitest"
import type { User } from "@/lib/api-types"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ResetPassword } from "./reset-password"

it("sets a new password and revokes tokens only if asked", async () => {
  answer("PATCH /api/v1/users/7", {})
  const { user } = renderApp(<ResetPassword user={{ id: 7, username: "mia" } as User} />)
  await user.click(await screen.findByRole("button", { name: "Reset password" }))
  const dialog = within(await screen.findByRole("dialog"))
  await user.type(dialog.getByLabelText(/^New password/), "a-longer-secret")
  await user.click(dialog.getByLabelText("Also revoke all tokens of the user"))
  await user.click(dialog.getByRole("button", { name: "Reset password" }))
  await waitFor(() => expect(requests("PATCH /api/v1/users/7")[0]?.body).toEqual({ password: "a-longer-secret", revoke_tokens: true }))
})
