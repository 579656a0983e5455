import { act, screen } from "@testing-library/react"
import { afterEach, beforeEach, expect, it } from "vitest"
import { refreshPreference } from "@/lib/preferences"
import { overview } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { FakeSocket } from "@/testing/socket"
import { ConnectionBadge } from "./connection-badge"

const OVERVIEW = "GET /api/v1/clusters/local/overview"

beforeEach(() => {
  FakeSocket.all = []
})

afterEach(() => refreshPreference.set("live"))

it("lets one choose how often what is shown moves, and says so instead of Live", async () => {
  answer(OVERVIEW, overview())
  const { user } = renderApp(<ConnectionBadge />)
  await user.click(await screen.findByRole("button"))
  act(() => FakeSocket.last.greet())
  await user.click(await screen.findByText("Every 30 s"))
  expect(refreshPreference.get()).toBe("30s")
  await user.click(await screen.findByText("30 s"))
  expect(screen.queryByText(/every second/)).toBeNull()
})

it.each([
  [overview(), "Live", true],
  [overview({ missing: [{ broker: "broker-b", reason: "late", since: null }] }), "1 broker silent", false],
  [overview({ brokers_answering: 0 }), "No broker answers", false],
])("is green only while all that is known answers (%#)", async (known, words, isGreen) => {
  answer(OVERVIEW, known)
  renderApp(<ConnectionBadge />)
  await screen.findByRole("button")
  act(() => FakeSocket.last.greet())
  const badge = (await screen.findByText(words)).closest("button") as HTMLElement
  expect(badge.querySelector("svg")?.dataset.tone === "ok").toBe(isGreen)
})
