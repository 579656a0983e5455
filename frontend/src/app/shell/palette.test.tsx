import { act, screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { pinnedGroups, pinnedTopics } from "@/lib/preferences"
import { groupSummary, page, reader, topic } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { openPalette, PaletteDoor } from "./palette-door"

async function goTo(words: string) {
  const { user, address } = renderApp(<PaletteDoor />)
  act(openPalette)
  await user.type(await screen.findByRole("textbox"), `${words}{Enter}`)
  return address
}

it("goes to the topic of that very name, even when Enter is pressed before anything was found", async () => {
  answer("GET /api/v1/clusters/local/topics", page([topic("a-orders"), topic("orders")]))
  answer("GET /api/v1/clusters/local/groups", page([groupSummary("orders-billing")]))
  const address = await goTo("orders")
  await waitFor(() => expect(address()).toBe("/topics/orders"))
})

it("goes to a page by a part of its name", async () => {
  answer("GET /api/v1/clusters/local/topics", page([]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const address = await goTo("schedules")
  await waitFor(() => expect(address()).toBe("/schedules"))
})

it("begins with what is pinned", async () => {
  pinnedGroups.set(["billing"])
  pinnedTopics.set(["orders"])
  answer("GET /api/v1/clusters/local/topics", page([]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const { user, address } = renderApp(<PaletteDoor />)
  act(openPalette)
  expect(await screen.findByText("pinned topic")).toBeTruthy()
  await user.type(await screen.findByRole("textbox"), "{Enter}")
  await waitFor(() => expect(address()).toBe("/groups/billing"))
  pinnedGroups.set([])
  pinnedTopics.set([])
})

it("opens by its keys", async () => {
  answer("GET /api/v1/clusters/local/topics", page([]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const { user } = renderApp(<PaletteDoor />)
  await user.keyboard("{Control>}k{/Control}")
  expect(await screen.findByRole("textbox")).toBeTruthy()
})

it("leads to where something is done with what was found", async () => {
  answer("GET /api/v1/clusters/local/topics", page([topic("orders")]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const { user, address } = renderApp(<PaletteDoor />)
  act(openPalette)
  await user.type(await screen.findByRole("textbox"), "orders")
  await user.click(await screen.findByText((_, line) => line?.tagName === "BUTTON" && line.textContent.startsWith("Produce to orders")))
  await waitFor(() => expect(address()).toBe("/topics/orders?tab=produce"))
})

it("does something with the group whose page is open, and with what was found", async () => {
  answer("GET /api/v1/clusters/local/topics", page([]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const { user, address } = renderApp(<PaletteDoor />, { at: "/groups/billing" })
  act(openPalette)
  await user.type(await screen.findByRole("textbox"), "pause{Enter}")
  await waitFor(() => expect(address()).toBe("/groups/billing?ask=pause"))
})

it("shows what one may not do, with the right that is missing, and does not go there", async () => {
  answer("GET /api/v1/clusters/local/topics", page([]))
  answer("GET /api/v1/clusters/local/groups", page([]))
  const { user, address } = renderApp(<PaletteDoor />, { me: reader() })
  act(openPalette)
  await user.type(await screen.findByRole("textbox"), "create a topic{Enter}")
  expect(await screen.findByText("Needs the right: manage")).toBeTruthy()
  expect(address()).toBe("/")
})
