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

const slave = { broker: "broker-a", broker_id: 4, reason: "no master of broker 'broker-a' is known" }
const files = { ...search().searched, index_files: 1, index_files_skipped_by_time: 0 }

it.each([
  ["all that a slave has", search({ verdict: "partial", complete: false, from_slaves: [slave], searched: files }), ["searched", "newest"]],
  ["what a slave has, up to the end of a page", search({ verdict: "partial", complete: false, from_slaves: [slave], next_cursor: "c2", searched: files }), ["left", "searched", "newest"]],
  ["what one of two brokers has", search({ verdict: "partial", complete: false, missing: [{ broker: "broker-b", reason: "gone", since: null }], searched: files }), ["searched"]],
  ["a part of what was too much", search({ verdict: "partial", complete: false, next_cursor: "c2", searched: files }), ["left", "searched"]],
])("draws %s where it was read, the oldest left", async (_, answer, kinds) => {
  const { container } = renderApp(<VerdictBar answer={answer} matches={0} />)
  await screen.findByText("partial")
  expect([...container.querySelectorAll("[data-kind]")].map((block) => block.getAttribute("data-kind"))).toEqual(kinds)
})
