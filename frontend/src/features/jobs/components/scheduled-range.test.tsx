import { screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { ScheduleJobFields } from "./schedule-job-fields"

const NOTHING = { left: { topics: [], groups: [] }, right: { topics: [], groups: [] } }

it("offers what a schedule counts from its runs, and keeps it in the address", async () => {
  const { user, address } = renderApp(<ScheduleJobFields topics={["orders"]} targetTopics={["orders"]} clusters={["local"]} choices={NOTHING} />, { at: "/schedules?new=replay&topic=orders" })
  await user.click(await screen.findByRole("combobox", { name: "From" }))
  await user.click(await screen.findByRole("option", { name: "The last successful run", hidden: true }))
  await waitFor(() => expect(new URLSearchParams(address().split("?")[1]).get("from")).toBe("{{ last_success }}"))
  await user.click(screen.getByRole("combobox", { name: "To" }))
  const [, due] = await screen.findAllByRole("option", { name: "When the run is due", hidden: true })
  await user.click(due as HTMLElement)
  await waitFor(() => expect(new URLSearchParams(address().split("?")[1]).get("to")).toBe("{{ scheduled_at }}"))
})

it("still takes a moment that stays", async () => {
  const { user, address } = renderApp(<ScheduleJobFields topics={[]} targetTopics={[]} clusters={["local"]} choices={NOTHING} />, { at: "/schedules?new=reconcile&from=2026-11-21T06:00:00.000Z&zone=UTC" })
  expect(((await screen.findByLabelText("Moment")) as HTMLInputElement).value).toBe("2026-11-21 06:00:00")
  await user.click(screen.getByRole("combobox", { name: "From" }))
  await user.click(await screen.findByRole("option", { name: "The oldest message", hidden: true }))
  await waitFor(() => expect(address()).not.toContain("from="))
})

const fromIn = (address: string) => new URLSearchParams(address.split("?")[1]).get("from")

it("offers spans before the run, and one of one's own", async () => {
  const { user, address } = renderApp(<ScheduleJobFields topics={["orders"]} targetTopics={["orders"]} clusters={["local"]} choices={NOTHING} />, { at: "/schedules?new=reconcile" })
  await user.click(await screen.findByRole("combobox", { name: "From" }))
  await user.click((await screen.findAllByRole("option", { name: "24 hours before it is due", hidden: true }))[0] as HTMLElement)
  await waitFor(() => expect(fromIn(address())).toBe("{{ scheduled_at - 24h }}"))
  await user.click(screen.getByRole("combobox", { name: "From" }))
  await user.click((await screen.findAllByRole("option", { name: "Another time span before it is due", hidden: true }))[0] as HTMLElement)
  const amount = await screen.findByLabelText("Before")
  await user.clear(amount)
  await user.type(amount, "90")
  await waitFor(() => expect(fromIn(address())).toBe("{{ scheduled_at - 90h }}"))
})

it("shows a span that was chosen before", async () => {
  renderApp(<ScheduleJobFields topics={[]} targetTopics={[]} clusters={["local"]} choices={NOTHING} />, { at: `/schedules?new=reconcile&from=${encodeURIComponent("{{ scheduled_at - 7d }}")}` })
  expect(((await screen.findByRole("combobox", { name: "From" })) as HTMLInputElement).value).toBe("7 days before it is due")
})

it("does not take a fixed moment that is still to be typed for an open end", async () => {
  const { user, address } = renderApp(<ScheduleJobFields topics={["orders"]} targetTopics={["orders"]} clusters={["local"]} choices={NOTHING} />, { at: "/schedules?new=reconcile" })
  await user.click(await screen.findByRole("combobox", { name: "From" }))
  await user.click((await screen.findAllByRole("option", { name: "A fixed moment", hidden: true }))[0] as HTMLElement)
  expect(await screen.findByText("Use the format 2026-11-21 14:10:00")).toBeTruthy()
  expect(fromIn(address())).toBe("?")
})

it("says at the field that source and target are the same", async () => {
  renderApp(<ScheduleJobFields topics={["orders"]} targetTopics={["orders"]} clusters={["local"]} choices={NOTHING} />, { at: "/schedules?new=replay&topic=orders&target=orders" })
  expect(await screen.findByText(/^Source and target are the same topic/)).toBeTruthy()
})
