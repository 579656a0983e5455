import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, requests } from "@/testing/server"
import { ScheduleJobFields } from "./schedule-job-fields"

const CHECK = "POST /api/v1/access:check"
const NOTHING = { left: { topics: [], groups: [] }, right: { topics: [], groups: [] } }

it.each([
  ["new=replay&topic=orders&target=staging", ["read orders", "bodies orders", "produce staging"], "“read bodies” on the topic orders"],
  ["new=export&topic=orders&where=key", ["read orders", "bodies orders"], "“read bodies” on the topic orders"],
  ["new=reconcile&left=orders&right=ledger", ["read orders", "bodies orders", "read ledger", "bodies ledger"], "“read bodies” on the topic orders; “read bodies” on the topic ledger"],
])("says which rights the job of a schedule lacks (%s)", async (query, asked, words) => {
  answer(CHECK, ({ body }: { body: { verb: string } }) => ({ body: { allowed: body.verb !== "bodies" } }))
  renderApp(<ScheduleJobFields topics={["orders"]} targetTopics={["staging"]} clusters={["local"]} choices={NOTHING} />, { at: `/schedules?${query}` })
  const lacks = await screen.findByText("This job needs rights that you do not have:")
  await waitFor(() => expect(lacks.parentElement?.textContent).toBe(`This job needs rights that you do not have: ${words}`))
  expect(requests(CHECK).map(({ body }) => Object.values(body as { verb: string; resource: string }).filter((word) => word !== "topic").join(" "))).toEqual(asked)
})
