import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { FirstRun } from "./first-run"

it("says where the token of the commands lies", async () => {
  renderApp(<FirstRun cluster="local" topic={null} messages={0} />)
  expect(await screen.findByText(/wrote one to data\/quickstart\.token/)).toBeTruthy()
  expect(screen.getByLabelText("Token").textContent).toBe('export GANTRY_TOKEN="$(cat data/quickstart.token)"')
  expect(screen.getByLabelText("Create a topic").textContent).toContain("$GANTRY_TOKEN")
})
