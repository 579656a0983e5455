import { fireEvent, screen, waitFor } from "@testing-library/react"
import { useState } from "react"
import { describe, expect, it } from "vitest"
import { errorOf, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { onPhone } from "@/testing/screen"
import { answer, requests, type SeenRequest } from "@/testing/server"
import { AccountsPage } from "./accounts-page"

const BASE = "/api/v1/clusters/local/accounts"
const account = {
  access_key: "night-shift", is_own: false, admin: false, white_address: "", default_topic_permission: "DENY", default_group_permission: "DENY",
  topic_permissions: {}, group_permissions: {}, missing_on: [], differs_on: [], secret_differs_on: [], unknown_on: [], etag: '"e"',
}
const addresses = { global_white_addresses: [], differs_on: [], unknown_on: [], etag: '"a"' }
const on = { broker: "broker-a", address: "10.0.0.1:10911", state: "on", reason: null, files: [] }
const silent = { broker: "broker-b", address: "10.0.0.2:10911", state: "unknown", reason: "broker-b did not accept a connection in time", files: [] }
const page = (others: object) => {
  answer(`GET ${BASE}`, { items: [account], global_addresses: addresses, brokers: [on], is_embedded: false, differ: false, ...others })
  return renderApp(<AccountsPage cluster="local" answering="broker-a" tabs={null} />)
}

it("calls an account alike on all brokers when all of them tell", async () => {
  page({})
  expect(await screen.findByText("on all alike")).toBeTruthy()
  expect(screen.getByText("None: everybody needs an account.")).toBeTruthy()
})

it("says of a silent broker that its accounts and addresses are unknown", async () => {
  const unknown = { unknown_on: ["broker-b"] }
  page({ items: [{ ...account, ...unknown }], global_addresses: { ...addresses, ...unknown }, brokers: [on, silent], differ: null })
  expect(await screen.findAllByText("unknown on broker-b")).toHaveLength(2)
  expect(screen.queryByText("on all alike")).toBeNull()
  expect(screen.queryByText("None: everybody needs an account.")).toBeNull()
})

it("names the brokers that lack an account beside those that are silent", async () => {
  page({ items: [{ ...account, missing_on: ["broker-c"], unknown_on: ["broker-b"] }], brokers: [on, silent], differ: true })
  expect(await screen.findByText("missing on broker-c; unknown on broker-b")).toBeTruthy()
})

it("has a place for rights and for what the brokers disagree about on a phone", async () => {
  onPhone()
  const named = { topic_permissions: { orders: "PUB" }, group_permissions: { billing: "SUB" }, white_address: "10.20.0.7", missing_on: ["broker-c"] }
  page({ items: [{ ...account, ...named }], differ: true })
  expect(await screen.findByText("missing on broker-c")).toBeTruthy()
  for (const fact of ["night-shift", "orders=PUB", "billing=SUB", "10.20.0.7"]) expect(screen.getByText(fact)).toBeTruthy()
  fireEvent.click(screen.getByRole("button", { name: "Delete everywhere: night-shift" }))
  expect(screen.getByRole("dialog")).toBeTruthy()
})

it("marks the row whose topic the API does not take", async () => {
  answer(`GET ${BASE}`, { items: [{ ...account, topic_permissions: { "no/such": "PUB" } }], global_addresses: addresses, brokers: [on], is_embedded: false, differ: false })
  refuseFields(`PATCH ${BASE}/night-shift`, { "topic_permissions/no~1such": "'no/such' is not a name of a topic or group" })
  const { user } = renderApp(<AccountsPage cluster="local" answering="broker-a" tabs={null} />, { at: "/?account=night-shift" })
  const row = await screen.findByRole("textbox", { name: "Topic" })
  await user.click(screen.getAllByRole("button", { name: "Change night-shift" }).at(-1) as HTMLElement)
  await waitFor(() => expect(errorOf(row)).toBe("'no/such' is not a name of a topic or group"))
})

describe("a new secret that one broker missed", () => {
  const changed = (brokers: object[], others: object = {}) => ({ ...account, etag: '"e2"', secret_key: null, brokers, ...others })
  const did = (broker: string) => ({ broker, done: true, reason: null })
  const unsure = (broker: string) => ({ broker, done: null, reason: "broker-b at 10.0.0.2:10911 did not answer within 5 s" })
  const didNot = (broker: string) => ({ broker, done: false, reason: "broker-b did not accept a connection in time" })

  it("is sent again as it is, and stays on the screen", async () => {
    answer(`GET ${BASE}`, { items: [account], global_addresses: addresses, brokers: [on], is_embedded: false, differ: null })
    answer(`PATCH ${BASE}/night-shift`, changed([did("broker-a"), didNot("broker-b")], { secret_key: "made just now" }), 207)
    const { user } = renderApp(<AccountsPage cluster="local" answering="broker-a" tabs={null} />, { at: "/?account=night-shift" })
    await user.click(await screen.findByRole("checkbox", { name: /Make a new secret key/ }))
    await user.click(screen.getAllByRole("button", { name: "Change night-shift" }).at(-1) as HTMLElement)
    await screen.findByText("made just now")

    answer(`PATCH ${BASE}/night-shift`, changed([did("broker-a"), did("broker-b")]))
    await user.click(screen.getByRole("button", { name: "Try again on the others" }))
    await waitFor(() => expect(screen.queryByRole("button", { name: "Try again on the others" })).toBeNull())
    const { body, headers } = requests(`PATCH ${BASE}/night-shift`).at(-1) as SeenRequest
    expect(body).toMatchObject({ secret_key: "made just now", new_secret: false, admin: false })
    expect(headers.get("If-Match")).toBe('"e2"')
    expect(screen.getByText("made just now")).toBeTruthy()
  })

  it("does not claim that a broker that was asked and did not answer missed it", async () => {
    answer(`GET ${BASE}`, { items: [account], global_addresses: addresses, brokers: [on], is_embedded: false, differ: null })
    answer(`PATCH ${BASE}/night-shift`, changed([did("broker-a"), unsure("broker-b")], { secret_key: "made just now" }), 207)
    const { user } = renderApp(<AccountsPage cluster="local" answering="broker-a" tabs={null} />, { at: "/?account=night-shift" })
    await user.click((await screen.findAllByRole("button", { name: "Change night-shift" })).at(-1) as HTMLElement)
    expect(await screen.findByText("broker-b may have made the change or not: broker-b at 10.0.0.2:10911 did not answer within 5 s")).toBeTruthy()
    expect(screen.getByRole("button", { name: "Try again on the others" })).toBeTruthy()
  })

  it("shows as another secret, which the form offers to replace", async () => {
    page({ items: [{ ...account, differs_on: ["broker-b"], secret_differs_on: ["broker-b"] }], differ: true })
    expect(await screen.findByText("another secret key on broker-b")).toBeTruthy()
    expect(screen.queryByText("on all alike")).toBeNull()
    fireEvent.click(screen.getByRole("button", { name: "Change night-shift" }))
    expect(((await screen.findByRole("checkbox", { name: /Make a new secret key/ })) as HTMLInputElement).checked).toBe(true)
  })
})

describe("an account that was deleted while a broker was away", () => {
  function Returning() {
    const [answering, setAnswering] = useState("broker-a")
    return (
      <>
        <button onClick={() => setAnswering("broker-a broker-b")}>broker-b comes back</button>
        <AccountsPage cluster="local" answering={answering} tabs={null} />
      </>
    )
  }

  it("appears when the broker is back, and can be deleted everywhere", async () => {
    answer(`GET ${BASE}`, { items: [], global_addresses: addresses, brokers: [on, silent], is_embedded: false, differ: null })
    const { user } = renderApp(<Returning />)
    await screen.findByText("There is no account yet")

    answer(`GET ${BASE}`, { items: [{ ...account, missing_on: ["broker-a"] }], global_addresses: addresses, brokers: [on], is_embedded: false, differ: true })
    await user.click(screen.getByRole("button", { name: "broker-b comes back" }))
    expect(await screen.findByText("missing on broker-a")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Delete everywhere: night-shift" }))
    expect(screen.getByRole("dialog")).toBeTruthy()
  })

  it("can be looked for by hand", async () => {
    page({})
    await screen.findByText("on all alike")
    const before = requests(`GET ${BASE}`).length
    fireEvent.click(screen.getByRole("button", { name: /^Refresh/ }))
    await waitFor(() => expect(requests(`GET ${BASE}`).length).toBeGreaterThan(before))
  })
})

it("leads to the name of an added right, and calls what has no name by its place", async () => {
  answer(`GET ${BASE}`, { items: [account], global_addresses: addresses, brokers: [on], is_embedded: false, differ: false })
  const { user } = renderApp(<AccountsPage cluster="local" answering="broker-a" tabs={null} />, { at: "/?new=account" })
  await user.click(await screen.findByRole("button", { name: "Add a topic" }))
  const field = screen.getByRole("textbox", { name: "Topic" })
  expect(document.activeElement).toBe(field)
  expect(screen.getByRole("button", { name: "Remove Topic 1" })).toBeTruthy()
  await user.type(field, "orders")
  expect(screen.getByRole("button", { name: "Remove orders" })).toBeTruthy()
  expect(screen.getAllByLabelText("Right of orders").length).toBeGreaterThan(0)
})
