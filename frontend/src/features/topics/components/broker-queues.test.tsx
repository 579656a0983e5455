import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { beforeEach, expect, it } from "vitest"
import { reader } from "@/testing/factories"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { BrokerQueues } from "./broker-queues"

const QUEUES = "GET /api/v1/clusters/local/topics/orders/queues"
const CHANGE = "PATCH /api/v1/clusters/local/topics/orders/queues"
const settings = (broker: string) => ({ broker, read_queues: 4, write_queues: 4, permission: "rw" })

beforeEach(() => {
  answer(QUEUES, { items: [], brokers: [settings("broker-a"), settings("broker-b")] }, 200, { ETag: '"seven"' })
  answer(CHANGE, { items: [{ before: settings("broker-a"), after: settings("broker-a"), effects: ["queues_hidden"] }], brokers: [{ broker: "broker-a", done: true, reason: null }] })
})

const show = (options = {}) => renderApp(<BrokerQueues cluster="local" topic="orders" />, options)
const broker = async (name: string) => within(await screen.findByRole("group", { name }))
const readQueues = async (name: string) => (await broker(name)).getByRole("textbox", { name: "Read queues" })

it("changes one broker alone, after it said what that does", async () => {
  const { user } = show()
  fireEvent.change(await readQueues("broker-a"), { target: { value: "2" } })
  expect(await screen.findByText("broker-a: messages in the removed queues are kept, and nobody consumes them")).toBeTruthy()
  expect(requests(CHANGE)[0]?.query.get("dry_run")).toBe("true")
  await user.click(button("Change on 1 broker"))
  await waitFor(() => expect(requests(CHANGE).length).toBeGreaterThan(1))
  const made = requests(CHANGE)[1]
  expect(made?.body).toEqual({ brokers: [{ broker: "broker-a", read_queues: 2 }] })
  expect([made?.headers.get("If-Match"), made?.query.get("dry_run")]).toEqual(['"seven"', null])
})

it("changes nothing before something differs, nor with a number that is none", async () => {
  show()
  await readQueues("broker-a")
  expect(button("Nothing changed yet").disabled).toBe(true)
  fireEvent.change(await readQueues("broker-b"), { target: { value: "0" } })
  expect(button("Change on 1 broker").disabled).toBe(true)
  expect(requests(CHANGE)).toHaveLength(0)
})

it("shows what the brokers have again when the change is given up", async () => {
  const { user } = show()
  fireEvent.change(await readQueues("broker-a"), { target: { value: "2" } })
  await user.click(button("Cancel"))
  expect(((await readQueues("broker-a")) as HTMLInputElement).value).toBe("4")
})

it("says that the effect is not known when nobody can tell", async () => {
  refuse(CHANGE, 503, "BROKER_UNREACHABLE", "broker-a did not answer")
  show()
  fireEvent.change(await readQueues("broker-a"), { target: { value: "2" } })
  expect(await screen.findByText("What the change does is not known")).toBeTruthy()
})

it("is locked without the right to manage", async () => {
  show({ me: reader() })
  expect((await readQueues("broker-a")).closest("fieldset")?.disabled).toBe(true)
})
