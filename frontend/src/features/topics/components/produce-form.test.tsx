import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { ProduceForm } from "./produce-form"

const SEND = "POST /api/v1/clusters/local/topics/orders/messages"

async function send() {
  const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
  await user.type(await screen.findByLabelText("Keys"), "A17")
  await user.click(screen.getByRole("button", { name: "Send to orders" }))
}

describe("the produce form", () => {
  it("sends over the data plane and shows where the message landed", async () => {
    answer(SEND, { results: [{ entry_id: "0", status: "stored", message_id: "AC110001000077D2A44F61E8B2", queue_id: 2, offset: 1881 }], stored: 1, failed: 0 }, 201)
    await send()
    expect(await screen.findByText("2 / 1,881")).toBeTruthy()
    expect(screen.getByText("Stored")).toBeTruthy()
    expect(requests(SEND)[0]?.body).toEqual({ messages: [{ keys: ["A17"], body: { encoding: "json", data: { hello: "harbour" } } }] })
  })

  it("calls an unknown end unknown, never an error and never a success", async () => {
    refuse(SEND, 504, "SEND_UNCERTAIN", "The broker did not answer in 3 s.")
    await send()
    expect(await screen.findByText("It is not known whether the message was stored")).toBeTruthy()
    expect(screen.getByText("Search its key before sending again: A17")).toBeTruthy()
    expect(screen.queryByText("Stored")).toBeNull()
  })
})
