import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { TopicQueues } from "./topic-queues"

const queue = (broker: string, id: number) => ({ broker, queue_id: id, min_offset: 0, max_offset: 7, count: 7, last_stored_at: null, unknown_reason: null })
const show = (...items: object[]) => {
  answer("GET /api/v1/clusters/local/topics/orders/queues", { items })
  renderApp(<TopicQueues cluster="local" topic="orders" />)
}

it("names the broker of a queue where the numbers of several would be the same", async () => {
  show(queue("broker-a", 0), queue("broker-b", 0))
  expect(await screen.findByText("broker-a/0")).toBeTruthy()
  expect(screen.getByText("broker-b/0")).toBeTruthy()
})

it("numbers the queues of a single broker", async () => {
  show(queue("broker-a", 3))
  expect(await screen.findByText("3")).toBeTruthy()
  expect(screen.queryByText("broker-a/3")).toBeNull()
})
