import { screen } from "@testing-library/react"
import userEvent from "@testing-library/user-event"
import { expect, it, vi } from "vitest"
import { saveFile } from "@/lib/save-file"
import { renderApp } from "@/testing/render"
import { TableFoot } from "./table-foot"

vi.mock("@/lib/save-file", () => ({ saveFile: vi.fn() }))

it("a table's rows are saved with every field, under the name of the table", async () => {
  renderApp(<TableFoot label="Dead letters of billing" rows={[{ name: "a", lag: null }]} hasMore={false} />)
  expect(await screen.findByText("1 row")).toBeTruthy()
  await userEvent.click(await screen.findByRole("button", { name: /CSV/ }))
  expect(saveFile).toHaveBeenCalledWith("dead-letters-of-billing.csv", "text/csv;charset=utf-8", "\ufeffname,lag\r\na,\r\n")
})

it("a table that goes on at the server says so", async () => {
  renderApp(<TableFoot label="Topics" rows={[{}, {}]} hasMore />)
  expect(await screen.findByText("2 rows loaded; more follow")).toBeTruthy()
})
