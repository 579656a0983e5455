import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { FirstRun } from "./first-run"

it("says where the token of the commands lies", async () => {
  renderApp(<FirstRun cluster="local" topic={null} messages={0} />)
  expect(await screen.findByText(/also in quickstart\.token in the data folder/)).toBeTruthy()
  expect(screen.getByLabelText("Token").textContent).toBe('export GANTRY_TOKEN="…"')
  expect(screen.getByLabelText("Create a topic").textContent).toContain("$GANTRY_TOKEN")
})

it("no longer calls the broker empty once it holds a message", async () => {
  renderApp(<FirstRun cluster="local" topic="hello" messages={1} />)
  expect(await screen.findByText("The first steps")).toBeTruthy()
  expect(screen.queryByText("The broker is up and empty")).toBeNull()
})
