import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { errorOf, refuseFields } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { AccountsPage } from "./accounts-page"

const BASE = "/api/v1/clusters/local/accounts"
const account = {
  access_key: "night-shift", is_own: false, admin: false, white_address: "", default_topic_permission: "DENY", default_group_permission: "DENY",
  topic_permissions: {}, group_permissions: {}, missing_on: [], differs_on: [], unknown_on: [], etag: '"e"',
}
const addresses = { global_white_addresses: [], differs_on: [], unknown_on: [], etag: '"a"' }
const on = { broker: "broker-a", address: "10.0.0.1:10911", state: "on", reason: null, files: [] }
const silent = { broker: "broker-b", address: "10.0.0.2:10911", state: "unknown", reason: "broker-b did not accept a connection in time", files: [] }
const page = (others: object) => {
  answer(`GET ${BASE}`, { items: [account], global_addresses: addresses, brokers: [on], is_embedded: false, differ: false, ...others })
  return renderApp(<AccountsPage cluster="local" tabs={null} />)
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

it("marks the row whose topic the API does not take", async () => {
  answer(`GET ${BASE}`, { items: [{ ...account, topic_permissions: { "no/such": "PUB" } }], global_addresses: addresses, brokers: [on], is_embedded: false, differ: false })
  refuseFields(`PATCH ${BASE}/night-shift`, { "topic_permissions/no~1such": "'no/such' is not a name of a topic or group" })
  const { user } = renderApp(<AccountsPage cluster="local" tabs={null} />, { at: "/?account=night-shift" })
  const row = await screen.findByRole("textbox", { name: "Topic" })
  await user.click(screen.getAllByRole("button", { name: "Change night-shift" }).at(-1) as HTMLElement)
  await waitFor(() => expect(errorOf(row)).toBe("'no/such' is not a name of a topic or group"))
})
