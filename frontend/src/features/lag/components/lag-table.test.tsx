import { screen, within } from "@testing-library/react"
import { expect, it } from "vitest"
import { group, queue } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { LagTable } from "./lag-table"

it("shows each queue, states the scale of the bars, and gives the reason of an unknown one", async () => {
  const known = queue(0, { lag: 24_102, time_lag_ms: 105_000 })
  const silent = queue(7, { broker: "broker-b", broker_offset: null, lag: null, time_lag_ms: null, unknown_reason: "broker-b silent, 2 min" })
  renderApp(<LagTable group={group("billing", { queues: [known, silent] })} />)
  expect(await screen.findByText("orders · bars share one scale, 24,102")).toBeTruthy()
  expect(screen.getByText("1 min 45 s")).toBeTruthy()
  const row = screen.getByText("broker-b silent, 2 min").closest("tr") as HTMLTableRowElement
  expect(within(row).getAllByText("—")).toHaveLength(2)
})
