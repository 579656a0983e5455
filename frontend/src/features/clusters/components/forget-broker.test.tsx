import { screen, waitFor, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ForgetBroker } from "./forget-broker"

it("forgets a broker only after its name was typed", async () => {
  const line = "DELETE /api/v1/clusters/local/brokers/broker-b"
  answer(line, null, 204)
  const { user } = renderApp(<ForgetBroker cluster="local" broker="broker-b" />)
  await user.click(await screen.findByRole("button", { name: "Forget" }))
  const dialog = within(await screen.findByRole("dialog"))
  const sure = dialog.getByRole("button", { name: "Forget broker-b" }) as HTMLButtonElement
  expect(sure.disabled).toBe(true)
  await user.type(dialog.getByLabelText("Type broker-b to continue"), "broker-b")
  await user.click(sure)
  await waitFor(() => expect(requests(line)).toHaveLength(1))
})

it("forgets one whose name nobody can type as it is", async () => {
  const line = "DELETE /api/v1/clusters/local/brokers/<b>a/b\nc"
  answer(line, null, 204)
  const { user } = renderApp(<ForgetBroker cluster="local" broker={"<b>a/b\nc"} />)
  await user.click(await screen.findByRole("button", { name: "Forget" }))
  const dialog = within(await screen.findByRole("dialog"))
  await user.type(dialog.getByRole("textbox"), "<b>a/b c")
  await user.click(dialog.getByRole("button", { name: /Forget <b>a\/b\s+c/ }))
  await waitFor(() => expect(requests(line)).toHaveLength(1))
})
