import { fireEvent, screen } from "@testing-library/react"
import { expect, it, vi } from "vitest"
import { renderApp } from "@/testing/render"
import { TableFoot } from "./table-foot"

it("a table's rows are saved with every field, under the name of the table", async () => {
  renderApp(<TableFoot label="Dead letters of billing" rows={[{ name: "a", lag: null }]} hasMore={false} />)
  expect(await screen.findByText("1 row")).toBeTruthy()
  const saved: Blob[] = []
  const names: string[] = []
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: (blob: Blob) => `blob:${saved.push(blob)}`, revokeObjectURL: vi.fn() }))
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  fireEvent.click(await screen.findByRole("button", { name: /CSV/ }))
  expect(names).toEqual(["dead-letters-of-billing.csv"])
  expect(saved[0]?.type).toBe("text/csv;charset=utf-8")
  expect(saved[0]?.size).toBe(new TextEncoder().encode("\ufeffname,lag\r\na,\r\n").length)
})

it("a table that goes on at the server says so", async () => {
  renderApp(<TableFoot label="Topics" rows={[{}, {}]} hasMore />)
  expect(await screen.findByText("2 rows loaded; more follow")).toBeTruthy()
})
