import { screen, waitFor, within } from "@testing-library/react"
import { beforeEach, describe, expect, it } from "vitest"
import { DockedPage } from "@/components/drawer/docked-drawer"
import type { BrokerSetting, SettingChange } from "@/lib/api-types"
import { reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { BrokerSettings, SettingDrawer } from "./broker-settings"

const CONFIG = "/api/v1/clusters/local/brokers/broker-a/config"
const kept: BrokerSetting = { name: "fileReservedTime", value: "48", default: "72", unit: "h", accepts: "a number from 0 to 1,000,000", effect: "live", risk: "removes_messages", fixed: null }
const fixed: BrokerSetting = { name: "brokerName", value: "broker-a", default: null, unit: null, accepts: null, effect: null, risk: null, fixed: "fixed" }
const settings = { broker: "broker-a", broker_id: 0, address: "10.0.0.1:10911", product: "gantry", settings: [fixed, kept], etag: '"v1"' }
const change = (overrides: Partial<SettingChange> = {}): SettingChange => ({ name: "fileReservedTime", before: "48", wanted: "24", after: null, effect: "live", risk: "removes_messages", result: "changed", ...overrides })

const show = (options: Parameters<typeof renderApp>[1] = {}, brokers = [{ name: "broker-a", id: 0 }]) =>
  renderApp(
    <DockedPage drawer={<SettingDrawer cluster="local" brokers={brokers} />}>
      <BrokerSettings cluster="local" brokers={brokers} />
    </DockedPage>,
    options,
  )

async function askFor24(changed: SettingChange) {
  answer(`POST ${CONFIG}:preview`, { broker: "broker-a", changes: [change()], etag: '"v1"' })
  answer(`PATCH ${CONFIG}`, { ...settings, changes: [changed], undo: { fileReservedTime: "48" } })
  const { user } = show()
  await user.click(await screen.findByRole("button", { name: "Change fileReservedTime" }))
  const field = await screen.findByLabelText(/New value/)
  await user.clear(field)
  await user.type(field, "24")
  await user.click(screen.getByRole("button", { name: "Check the change" }))
  expect(await screen.findByText("From 48 h to 24 h, at once. Nothing has been changed yet.")).toBeTruthy()
  expect(requests(`PATCH ${CONFIG}`)).toHaveLength(0)
  // The form takes no second press within a moment of the first.
  await waitFor(async () => {
    await user.click(screen.getByRole("button", { name: "Change fileReservedTime to 24" }))
    expect(requests(`PATCH ${CONFIG}`)).toHaveLength(1)
  })
  return user
}

beforeEach(() => answer(`GET ${CONFIG}`, settings, 200, { ETag: '"v1"' }))

describe("the settings of a broker", () => {
  it("show first what can be changed, with its meaning and default", async () => {
    const { user } = show()
    const row = within((await screen.findByText("fileReservedTime")).closest("tr") as HTMLElement)
    for (const words of ["How long messages are kept.", "48 h", "72 h", "at once"]) expect(row.getByText(words)).toBeTruthy()
    expect(screen.queryByText("brokerName")).toBeNull()
    await user.click(screen.getByRole("button", { name: /^All/ }))
    expect(await screen.findByText("fixed, or on the command line")).toBeTruthy()
  })

  it("are changed only after the change was checked, and can be put back", async () => {
    const user = await askFor24(change({ after: "24" }))
    expect(await screen.findByText(/was 48 h and is now 24 h/)).toBeTruthy()
    expect(requests(`PATCH ${CONFIG}`)[0]?.headers.get("If-Match")).toBe('"v1"')
    await user.click(screen.getByRole("button", { name: "Undo" }))
    await waitFor(() => expect(requests(`PATCH ${CONFIG}`).at(-1)?.body).toEqual({ settings: { fileReservedTime: "48" } }))
  })

  it("do not claim a change that the broker ignored", async () => {
    await askFor24(change({ after: "48", result: "ignored" }))
    expect(await screen.findByText(/broker-a answered, but keeps fileReservedTime at 48 h/)).toBeTruthy()
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull()
  })

  it("offer no change without the right, and lock the form that an address opens", async () => {
    show({ me: reader(), at: "/broker?setting=fileReservedTime" })
    const change = await screen.findByLabelText<HTMLButtonElement>("Change fileReservedTime")
    expect(change.disabled).toBe(true)
    expect(change.getAttribute("aria-description")).toBe("Needs the right: admin")
    expect((await screen.findByLabelText<HTMLInputElement>(/New value/)).matches(":disabled")).toBe(true)
  })

  it("say that they could not be read", async () => {
    refuse(`GET ${CONFIG}`, 503, "BROKER_UNREACHABLE", "broker-a refused the connection.")
    show()
    expect(await screen.findByText("The settings of broker-a could not be read")).toBeTruthy()
  })

  it.each(["abc", "-1", "72.5"])("say at the field that %s is nothing they take, and send nothing", async (typed) => {
    const { user } = show()
    await user.click(await screen.findByRole("button", { name: "Change fileReservedTime" }))
    const field = await screen.findByLabelText(/New value/)
    await user.clear(field)
    await user.type(field, `${typed}{Enter}`)
    expect(await screen.findByText(`${typed} is not a number from 0 to 1,000,000`)).toBeTruthy()
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Check the change" }).disabled).toBe(true)
    await user.clear(field)
    expect(screen.queryByText(/is not a number from/)).toBeNull()
    expect(requests(`POST ${CONFIG}:preview`)).toHaveLength(0)
  })

  it("say at the field what the server refuses, until the text is changed", async () => {
    const detail = "fileReservedTime: it is locked."
    answer(`POST ${CONFIG}:preview`, { code: "INVALID", detail, errors: [{ pointer: "#/settings/fileReservedTime", detail }] }, 422)
    const { user } = show()
    await user.click(await screen.findByRole("button", { name: "Change fileReservedTime" }))
    await user.type(await screen.findByLabelText(/New value/), "0{Enter}")
    expect(await screen.findByText("fileReservedTime: it is locked.")).toBeTruthy()
    expect(screen.queryByText(/was not changed/)).toBeNull()
    await user.type(screen.getByLabelText(/New value/), "0")
    expect(screen.queryByText("fileReservedTime: it is locked.")).toBeNull()
  })
})

describe("the settings of several replicas", () => {
  const both = [{ name: "broker-a", id: 0 }, { name: "broker-a", id: 2 }]
  const ofReplica = { ...settings, broker_id: 2, settings: [fixed, { ...kept, value: "24" }], etag: '"v2"' }
  beforeEach(() => answer(`GET ${CONFIG}`, ({ query }: { query: URLSearchParams }) => (query.get("broker_id") === "2" ? { body: ofReplica, headers: { ETag: '"v2"' } } : { body: settings, headers: { ETag: '"v1"' } })))

  it("are each shown, and what differs is marked", async () => {
    const { user } = show({}, both)
    expect(await screen.findByLabelText("replica 2 has 24 h")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: /^All/ }))
    expect(await screen.findByText("brokerName")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: /^Differs between replicas/ }))
    await waitFor(() => expect(screen.queryByText("brokerName")).toBeNull())
  })

  it("are changed at the replica that the address names", async () => {
    answer(`POST ${CONFIG}:preview`, { broker: "broker-a", changes: [change({ before: "24", wanted: "48" })], etag: '"v2"' })
    answer(`PATCH ${CONFIG}`, { ...ofReplica, changes: [change({ before: "24", after: "48" })], undo: { fileReservedTime: "24" } })
    const { user } = show({ at: "/broker?replica=2" }, both)
    expect(await screen.findByLabelText("the master has 48 h")).toBeTruthy()
    await user.click(await screen.findByRole("button", { name: "Change fileReservedTime" }))
    const field = await screen.findByLabelText(/New value/)
    await user.clear(field)
    await user.type(field, "48")
    await user.click(screen.getByRole("button", { name: "Check the change" }))
    await waitFor(async () => {
      await user.click(screen.getByRole("button", { name: "Change fileReservedTime to 48" }))
      expect(requests(`PATCH ${CONFIG}`)).toHaveLength(1)
    })
    const [sent] = requests(`PATCH ${CONFIG}`)
    expect([sent?.query.get("broker_id"), sent?.headers.get("If-Match")]).toEqual(["2", '"v2"'])
  })
})
