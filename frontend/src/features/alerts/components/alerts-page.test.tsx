import { screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { Alert, AlertCounts } from "@/lib/api-types"
import { admin, page, reader } from "@/testing/factories"
import { button, errorOf, field, findField, refuseFields, retype } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { AlertsPage } from "./alerts-page"
import { FiringAlerts } from "./firing-alerts"

const COUNTS: AlertCounts = { firing: 1, no_data: 1, pending: 0, acknowledged: 0, silenced: 0, resolved: 9 }
const CREATE = "POST /api/v1/alert-rules"

const alert = (subject: string, change: Partial<Alert> = {}): Alert => ({
  id: subject,
  rule: { id: "r1", name: "lag", metric: "group_lag", severity: "critical", direction: "above", limit: 150_000, for_ms: 10_000 },
  cluster: "local",
  subject,
  state: "firing",
  shown: "firing",
  since: new Date().toISOString(),
  value: 184_220,
  value_now: 184_220,
  last_known: null,
  fired_at: null,
  resolved_at: null,
  acknowledged: null,
  silenced_until: null,
  summary: "lag is firing",
  advice: null,
  changes: [{ at: "2026-05-01T08:00:00.000Z", state: "firing", value: 184_220 }],
  ...change,
})

function show(at = "/alerts?zone=UTC", me = admin(), alerts = [alert("billing"), alert("ship", { state: "no_data", shown: "no_data", value: null, value_now: null })]) {
  answer("GET /api/v1/alerts:counts", COUNTS)
  answer("GET /api/v1/alert-rules", page([]))
  answer("GET /api/v1/alert-channels", page([]))
  answer("GET /api/v1/alerts", page(alerts))
  return renderApp(<AlertsPage />, { at, me })
}

const rowOf = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLTableRowElement)

it("tells the overview of a cluster the alerts of that cluster alone", async () => {
  answer("GET /api/v1/alerts", page([alert("billing", { cluster: "east" })]))
  renderApp(<FiringAlerts cluster="east" />)
  expect(await screen.findByText("lag · billing")).toBeTruthy()
  expect(requests("GET /api/v1/alerts").map(({ query }) => [query.get("cluster"), query.get("state")])).toEqual([["east", "firing"]])
})

describe("the page of alerts", () => {
  it("shows the value against the limit, and no data as unknown", async () => {
    show()
    expect((await rowOf("billing")).getByText("184,220")).toBeTruthy()
    const unknown = await rowOf("ship")
    expect(unknown.getByText("No data")).toBeTruthy()
    expect(unknown.getAllByRole("img").length).toBeGreaterThan(0)
    expect(unknown.queryByText("0")).toBeNull()
  })

  it("says how old a value is that nobody measures now", async () => {
    const at = new Date(Date.now() - 12_500).toISOString()
    show(undefined, undefined, [alert("billing", { value_now: null, last_known: { at, value: 1_092 } })])
    const row = await rowOf("billing")
    expect(row.getByRole("img", { name: /1,092/ }).textContent).toMatch(/1,0921\d s ago/)
  })

  it("filters by a cell of the life cycle, in the address", async () => {
    const { user, address } = show()
    const cell = await screen.findByRole("button", { name: /Resolved.*9/ })
    await user.click(cell)
    expect(address()).toContain("state=resolved")
    await waitFor(() => expect(requests("GET /api/v1/alerts").at(-1)?.query.get("state")).toBe("resolved"))
  })

  it("acknowledges with a note", async () => {
    const acknowledge = "POST /api/v1/alerts/billing:acknowledge"
    answer("GET /api/v1/alerts/billing", alert("billing"))
    answer("GET /api/v1/deliveries", page([]))
    answer(acknowledge, alert("billing", { shown: "acknowledged" }))
    const { user } = show("/alerts?zone=UTC&alert=billing")
    await user.type(await findField("Note"), "on it")
    expect(screen.getByText("Lag of a group: billing in local is at 184,220, the limit is 150,000.")).toBeTruthy()
    answer("GET /api/v1/alerts/billing", alert("billing", { shown: "acknowledged", acknowledged: { by: "olga", at: "2026-05-01T08:01:00.000Z", until: null, note: "on it" } }))
    await user.click(screen.getByRole("button", { name: "Acknowledge" }))
    expect(await screen.findByText(/the limit is 150,000. olga takes care of it./)).toBeTruthy()
    expect(await screen.findByText("The alert was acknowledged")).toBeTruthy()
    await waitFor(() => expect(requests(acknowledge)[0]?.body).toEqual({ note: "on it" }))
  })

  it("says what failed, and locks what needs a right", async () => {
    refuse("GET /api/v1/alerts", 503, "DRAINING", "Shutting down.")
    answer("GET /api/v1/alerts:counts", COUNTS)
    answer("GET /api/v1/alert-rules", page([]))
    renderApp(<AlertsPage />, { at: "/alerts", me: reader() })
    expect(await screen.findByText("The alerts could not be read")).toBeTruthy()
    expect((await screen.findByRole("button", { name: "New rule" })).hasAttribute("disabled")).toBe(true)
  })
})

describe("the form of a rule", () => {
  it.each([
    ["unknown, of which nothing is known", [null, null, null], 180_000, "firednot known"],
    ["not while known, of which something is", [1, null, 1], 60_000, "not while known"],
    ["never, of which all is", [1, 1, 1], 0, "never"],
  ])("calls what did not fire %s", async (_words, values, unknown_ms, shown) => {
    answer("POST /api/v1/alert-rules:preview", {
      from: "2026-05-01T00:00:00.000Z", to: "2026-05-01T00:03:00.000Z", step_ms: 60_000, subjects: 1, previewed: 1, missing: [], shown: "billing", values,
      fired: [], fired_count: 0, fired_ms: 0, longest_ms: 0, unknown: [], unknown_ms, brief: 0,
    })
    show("/alerts?zone=UTC&new=rule&subject=billing")
    const said = (await screen.findByText(/^Would have fired/)).textContent?.toLowerCase()
    expect(said).toContain(shown)
  })

  it("shows the last day before anything is kept, and keeps what was typed", async () => {
    answer("POST /api/v1/alert-rules:preview", {
      from: "2026-05-01T00:00:00.000Z", to: "2026-05-01T00:03:00.000Z", step_ms: 60_000, subjects: 1, previewed: 1, missing: [], shown: "billing", values: [1, 20_000, null],
      fired: [{ cluster: "local", subject: "billing", from: "2026-05-01T00:01:00.000Z", to: "2026-05-01T00:02:00.000Z", worst: 20_000 }],
      fired_count: 3, fired_ms: 60_000, longest_ms: 60_000, unknown: [], unknown_ms: 0, brief: 2,
    })
    answer(CREATE, {}, 201)
    const { user } = show("/alerts?zone=UTC&new=rule&subject=billing")
    expect(await screen.findByText("3 ×")).toBeTruthy()
    expect(requests(CREATE)).toHaveLength(0)
    await user.type(await findField("Name"), "billing lag")
    await user.click(screen.getByRole("button", { name: "Save rule" }))
    await waitFor(() => expect(requests(CREATE)[0]?.body).toMatchObject({ name: "billing lag", subject: "billing", metric: "group_lag", limit: 10_000 }))
  })

  it("sends nothing while a field is wrong, leads to the first of them, and asks for no preview", async () => {
    const { user } = show("/alerts?zone=UTC&new=rule&subject=billing")
    const long = await findField("For (seconds)")
    await retype(user, long, "86401")
    await waitFor(() => expect(screen.getByText("It is shown once the fields above are right.")).toBeTruthy())
    const previews = requests("POST /api/v1/alert-rules:preview").length
    await retype(user, field("Cluster"), "")
    expect(errorOf(field("Cluster"))).toBe("It is required")
    await user.click(button("Save rule"))
    await waitFor(() => expect(document.activeElement).toBe(field("Name")))
    expect(errorOf(field("Name"))).toBe("It is required")
    await user.type(field("Name"), "late{Enter}")
    await waitFor(() => expect(document.activeElement).toBe(field("Cluster")))
    await user.type(field("Cluster"), "local{Enter}")
    await waitFor(() => expect(document.activeElement).toBe(long))
    expect(errorOf(long)).toBe("A whole number from 0 to 86,400")
    expect(requests(CREATE)).toHaveLength(0)
    expect(requests("POST /api/v1/alert-rules:preview")).toHaveLength(previews)
  })

  it("says a bound of the server in the unit of the field", async () => {
    refuseFields(CREATE, { for_ms: "Ensure this value is less than or equal to 3600000." })
    const { user } = show("/alerts?zone=UTC&new=rule&subject=billing")
    await user.type(await findField("Name"), "late{Enter}")
    await waitFor(() => expect(errorOf(field("For (seconds)"))).toBe("Ensure this value is less than or equal to 3600."))
  })
})

describe("an alert on replicas", () => {
  it("names the broker, says what to do, and leads to its page", async () => {
    const stuck = alert("broker-a", { rule: { id: "r2", name: "stuck", metric: "broker_stuck", severity: "critical", direction: "above", limit: 0, for_ms: 0 }, value: 1, value_now: 1, advice: "Start the replica." })
    answer("GET /api/v1/alerts/broker-a", stuck)
    answer("GET /api/v1/deliveries", page([]))
    await show("/alerts?zone=UTC&alert=broker-a", admin(), [stuck])

    await screen.findByText("Broker gets no master by itself: broker-a in local.")
    screen.getByText(/Start the replica of broker-a that has every acknowledged message/)
    expect(screen.getByRole("link", { name: /broker-a/ }).getAttribute("href")).toContain("/broker/broker-a")
  })
})
