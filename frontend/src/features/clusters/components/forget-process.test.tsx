import { screen, waitFor, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { AT, broker, overview, page, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { BrokerPage } from "./broker-page"
import { ForgetBroker } from "./forget-broker"

const LINE = "DELETE /api/v1/clusters/local/brokers/broker-a"
const gone = { id: 1, address: "10.0.0.2:10911", seen: AT }
const show = (options = {}) => renderApp(<ForgetBroker cluster="local" broker="broker-a" process={gone} />, options)

it("forgets one process after it said where it was and what stays", async () => {
  answer(LINE, null, 204)
  const { user } = show()
  await user.click(await screen.findByRole("button", { name: "Forget" }))
  const dialog = within(await screen.findByRole("dialog"))
  expect(dialog.getByText("10.0.0.2:10911")).toBeTruthy()
  expect(dialog.getByText(/the other processes of broker-a, stay as they are/)).toBeTruthy()
  await user.click(dialog.getByRole("button", { name: "Forget process 1" }))
  await waitFor(() => expect(requests(LINE).map(({ query }) => query.get("broker_id"))).toEqual(["1"]))
  expect(await screen.findByText("Process 1 of broker-a is forgotten")).toBeTruthy()
})

it("says why one is not forgotten that is listed again", async () => {
  refuse(LINE, 409, "CONFLICT", "broker-a with id 1 is registered at the name server. Stop it first, and wait two minutes.")
  const { user } = show()
  await user.click(await screen.findByRole("button", { name: "Forget" }))
  await user.click(await screen.findByRole("button", { name: "Forget process 1" }))
  expect(await screen.findByText(/is registered at the name server/)).toBeTruthy()
})

it("is closed to whoever may not manage", async () => {
  show({ me: reader() })
  expect((await screen.findByText("Forget")).closest("button")?.disabled).toBe(true)
})

it("is offered in the list of brokers for a slave alone, and for no replica that controllers know", async () => {
  answer("GET /api/v1/clusters", page([]))
  const lost = { reachable: false, reason: "it is gone", role: "slave" as const, broker_id: 1 }
  const rows = [broker("broker-a"), broker("broker-a", { ...lost, address: "10.0.0.2:10911" }), broker("led", { address: "10.0.0.3:10911", replica_id: 1 }), broker("led", { ...lost, address: "10.0.0.4:10911", replica_id: 2 })]
  answer("GET /api/v1/clusters/local/overview", overview({ brokers: rows, brokers_answering: 2 }))
  const { user } = renderApp(<BrokerPage cluster="local" />)
  await user.click(await screen.findByRole("button", { name: "Forget" }))
  expect(await screen.findByRole("dialog", { name: "Forget process 1 of broker-a" })).toBeTruthy()
})
