import { act, screen, waitFor } from "@testing-library/react"
import { expect, it } from "vitest"
import { groupSummary, page, topic } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { Palette, palette } from "./palette"

async function goTo(words: string) {
  const { user, address } = renderApp(<Palette />)
  act(() => palette.open())
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
  const address = await goTo("schedu")
  await waitFor(() => expect(address()).toBe("/schedules"))
})
