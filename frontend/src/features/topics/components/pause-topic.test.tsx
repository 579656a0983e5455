import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { topic } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { TopicPage } from "./topic-page"

const ONE = "GET /api/v1/clusters/local/topics/orders"
const PAUSE = "POST /api/v1/clusters/local/topics/orders:pause"
const RESUME = "POST /api/v1/clusters/local/topics/orders:resume"
const took = { items: [], brokers: [{ broker: "broker-a", done: true, reason: null }] }

async function openMenu(permission: string) {
  answer(ONE, { ...topic("orders"), order: false, brokers: ["broker-a"], permission })
  const app = renderApp(<TopicPage cluster="local" topic="orders" messages={null} groups={null} activity={null} />, { at: "/topics/orders" })
  await screen.findByText("Max lag")
  await app.user.click(screen.getByLabelText("More actions"))
  return app
}

describe("pausing a topic", () => {
  it("asks what stops and says what goes on", async () => {
    const { user } = await openMenu("rw")
    answer(PAUSE, took)
    await user.click(await screen.findByRole("menuitem", { name: "Pause topic" }))
    expect(await screen.findByText(/Messages are still stored/)).toBeTruthy()
    await user.click(screen.getByText("Sends"))
    await user.click(button("Pause orders"))
    expect(await screen.findByText("Topic orders is paused")).toBeTruthy()
    expect(requests(PAUSE)[0]?.body).toEqual({ stop: "sends" })
  })

  it("resumes without a question", async () => {
    const { user } = await openMenu("w")
    answer(RESUME, took)
    await user.click(await screen.findByRole("menuitem", { name: "Resume topic" }))
    expect(await screen.findByText("Topic orders stores and delivers again")).toBeTruthy()
  })
})
