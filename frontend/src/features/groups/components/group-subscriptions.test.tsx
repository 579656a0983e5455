import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { GroupClientPanel } from "./group-client"
import { GroupSubscriptions } from "./group-subscriptions"

const GROUP = "GET /api/v1/clusters/local/groups/billing"
const of = (expression: string, clients: string[] | null) => ({ topic: "orders", type: "TAG", expression, clients })

it("names who subscribes to what where clients disagree", async () => {
  answer(`${GROUP}/subscriptions`, { items: [of("paid", ["a1"]), of("sent", ["b2"])], consistent: false, silent: [], missing: [] })
  renderApp(<GroupSubscriptions cluster="local" group="billing" />)
  expect(await screen.findByText(/subscribe to different things/)).toBeTruthy()
  for (const words of ["paid", "a1", "sent", "b2"]) expect(screen.getByText(words)).toBeTruthy()
  expect(screen.queryByText("all clients subscribe to the same")).toBeNull()
})

it("does not say that all agree while one is silent", async () => {
  answer(`${GROUP}/subscriptions`, { items: [of("paid", ["a1"])], consistent: null, silent: [{ client_id: "b2", reason: "it hangs" }], missing: [] })
  renderApp(<GroupSubscriptions cluster="local" group="billing" />)
  expect(await screen.findByText(/b2 \(it hangs\)/)).toBeTruthy()
  expect(screen.getByText("not all clients answered")).toBeTruthy()
})

it("does not say that nothing is subscribed while a broker is silent", async () => {
  answer(`${GROUP}/subscriptions`, { items: [], consistent: null, silent: [], missing: [{ broker: "broker-b", reason: "broker-b refused the connection", since: null }] })
  renderApp(<GroupSubscriptions cluster="local" group="billing" />)
  expect(await screen.findByText("broker-b is not included: broker-b refused the connection")).toBeTruthy()
  expect(screen.queryByText(/Callers that lease have none/)).toBeNull()
})

it("shows what a client holds of each queue and how fast it is", async () => {
  const queue = { topic: "orders", broker: "broker-a", queue_id: 3, commit_offset: 70, cached_messages: 12, cached_mib: 0, locked: true, dropped: false, last_pull_at: null, last_consume_at: null }
  const pace = { topic: "orders", pull_ms: 2, pull_per_second: 9, consume_ms: 14.25, consumed_per_second: 8, failed_per_second: 0, failed_last_hour: 5 }
  answer(`${GROUP}/clients/a1`, { client_id: "a1", consume_type: null, started_at: null, threads: 20, cached_messages: 1_012, subscriptions: [], queues: [queue], topics: [pace] })
  renderApp(<GroupClientPanel cluster="local" group="billing" client="a1" onClose={() => undefined} />)
  expect(await screen.findByText("broker-a / 3")).toBeTruthy()
  for (const words of ["Inner state of a1", "1,012", "12", "yes", "14.3"]) expect(screen.getByText(words)).toBeTruthy()
})
