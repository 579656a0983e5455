import { screen } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { Outage } from "@/hooks/use-outage"
import { Problem } from "@/lib/problem"
import { renderApp } from "@/testing/render"
import { Empty } from "./empty"
import { QueryPanel } from "./query-panel"

const show = (query: { data?: string[] | undefined; error?: Error | null; dataUpdatedAt?: number }, refetch = vi.fn()) =>
  renderApp(
    <QueryPanel
      query={{ data: query.data, error: query.error ?? null, dataUpdatedAt: query.dataUpdatedAt ?? Date.now(), refetch }}
      title="Groups by lag"
      what="Lag could not be read"
      isEmpty={(items) => items.length === 0}
      empty={<Empty title="No group consumes from this cluster yet" />}
      staleAfterMs={15_000}
    >
      {(items) => <ul>{items.map((item) => <li key={item}>{item}</li>)}</ul>}
    </QueryPanel>,
  )

describe("a panel", () => {
  it("has its head while it loads", async () => {
    show({})
    expect(await screen.findByText("Groups by lag")).toBeTruthy()
  })

  it("does not load for long while no broker answers, but says what is not known and why", async () => {
    renderApp(
      <Outage value="broker-b at 10.0.0.2:10911 refused the connection">
        <QueryPanel query={{ data: undefined, error: null, dataUpdatedAt: 0, refetch: vi.fn() }} what="Lag could not be read" skeleton={<p>loading</p>}>
          {() => null}
        </QueryPanel>
      </Outage>,
    )
    expect(await screen.findByText("loading")).toBeTruthy()
    expect(await screen.findByText(/broker-b .* refused the connection/)).toBeTruthy()
    expect(screen.getByText("Not known")).toBeTruthy()
    expect(screen.queryByText("loading")).toBeNull()
  })

  it("is empty with a sentence why", async () => {
    show({ data: [] })
    expect(await screen.findByText("No group consumes from this cluster yet")).toBeTruthy()
  })

  it("fails with status, code and request id, and tries again when asked", async () => {
    const refetch = vi.fn()
    const { user } = show({ error: new Problem(503, { title: "x", detail: "No broker answered.", code: "BROKER_UNREACHABLE", request_id: "r1" }) }, refetch)
    expect(await screen.findByText("503 BROKER_UNREACHABLE")).toBeTruthy()
    expect(screen.getByText("r1")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Try again" }))
    expect(refetch).toHaveBeenCalled()
  })

  it("keeps old data and says how old they are", async () => {
    show({ data: ["billing"], dataUpdatedAt: Date.now() - 134_000 })
    expect(await screen.findByText("billing")).toBeTruthy()
    expect(screen.getByText(/^2 min \d+ s old$/)).toBeTruthy() // a slow page is drawn some seconds later
    expect(screen.getByRole("button", { name: "Reconnect" })).toBeTruthy()
  })

  it("says that a thing is gone instead of showing it as it was", async () => {
    show({ data: ["billing"], error: new Problem(404, { title: "x", detail: "No group is named billing.", code: "GROUP_NOT_FOUND" }) })
    expect(await screen.findByText("It no longer exists")).toBeTruthy()
    expect(screen.queryByText("billing")).toBeNull()
  })

  it("shows beside what it read before that it cannot be read now", async () => {
    show({ data: ["billing"], error: new Problem(503, { title: "x", detail: "No broker answered.", code: "BROKER_UNREACHABLE" }) })
    expect(await screen.findByText(/^Lag could not be read: No broker answered\. Shown as it was at/)).toBeTruthy()
    expect(screen.getByText("billing")).toBeTruthy()
  })
})
