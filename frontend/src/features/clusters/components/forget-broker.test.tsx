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
