import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { search } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { VerdictBar } from "./verdict-bar"

it("calls a search partial only when something was left unread, and names what", async () => {
  const reason = "broker-b at 10.0.0.2:10911 refused the connection"
  renderApp(<VerdictBar answer={search({ verdict: "partial", complete: false, missing: [{ broker: "broker-b", reason, since: null }] })} matches={1} />)
  expect(await screen.findByText("partial")).toBeTruthy()
  expect(screen.getByText(`broker-b was not searched: ${reason}`)).toBeTruthy()
})

it("does not call more pages of matches partial", async () => {
  renderApp(<VerdictBar answer={search({ verdict: "match", complete: false, next_cursor: "c2" })} matches={64} />)
  expect(await screen.findByText("more below")).toBeTruthy()
  expect(screen.queryByText("partial")).toBeNull()
})
