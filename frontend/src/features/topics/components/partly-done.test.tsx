import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { topic } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { CreateTopic } from "./create-topic"

const CREATE = "POST /api/v1/clusters/local/topics"
const DONE = { broker: "broker-a", done: true, reason: null }
const AWAY = { broker: "broker-b", done: false, reason: "broker-b is not listed by any name server" }

it("says which brokers took a change, and sends the same request for the others", async () => {
  answer(CREATE, { ...topic("payments"), brokers: [DONE, AWAY] }, 207)
  const { user } = renderApp(<CreateTopic cluster="local" onClose={() => undefined} />)
  await user.type(await screen.findByRole("textbox", { name: /^Topic/ }), "payments")
  await user.click(screen.getByRole("button", { name: "Create payments" }))
  expect(await screen.findByText("Topic payments was created, but not on every broker")).toBeTruthy()
  expect(screen.getByText("broker-a made the change")).toBeTruthy()
  expect(screen.getByText("broker-b did not: broker-b is not listed by any name server")).toBeTruthy()
  const again = screen.getByRole("button", { name: "Try again on the others" })

  // A try that fails takes the offer away from nobody.
  refuse(CREATE, 503, "BROKER_UNREACHABLE", "No broker answered.")
  await user.click(again)
  expect(await screen.findByText("Topic payments was not created")).toBeTruthy()
  expect(screen.getByText("broker-a made the change")).toBeTruthy()

  answer(CREATE, { ...topic("payments"), brokers: [DONE, { ...AWAY, done: true, reason: null }] }, 201)
  await user.click(screen.getByRole("button", { name: "Try again on the others" }))
  expect(await screen.findByText("Topic payments was created")).toBeTruthy()
  await waitFor(() => expect(screen.queryByText("broker-a made the change")).toBeNull())
  const sent = requests(CREATE).map((request) => request.body)
  expect(sent).toHaveLength(3)
  expect(sent[2]).toEqual(sent[0])
})
