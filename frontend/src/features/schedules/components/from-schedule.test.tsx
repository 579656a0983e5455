import { screen } from "@testing-library/react"
import { expect, it } from "vitest"
import { page, schedule } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer } from "@/testing/server"
import { FromSchedule } from "./from-schedule"

it("names a schedule that its reader may see, and no other one", async () => {
  answer("GET /api/v1/schedules", page([schedule("s1", { name: "nightly" })]))
  renderApp(
    <>
      <p>
        <FromSchedule id="s1" />
      </p>
      <p>
        <FromSchedule id="s2" />
      </p>
    </>,
  )
  expect(await screen.findByText("from the schedule nightly")).toBeTruthy()
  expect(screen.getByText("from a schedule")).toBeTruthy()
})
