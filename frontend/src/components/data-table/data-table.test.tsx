import { fireEvent, screen } from "@testing-library/react"
import { useState } from "react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { columnsFor } from "./columns"
import { DataTable } from "./data-table"

function Settings() {
  const [word, setWord] = useState("Change")
  const columns = [columnsFor<{ name: string }>()("change", "", {}, ({ name }) => <button type="button" onClick={() => setWord("Edit")}>{`${word} ${name}`}</button>)]
  return <DataTable natural label="Settings" columns={columns} rows={[{ name: "brokerName" }]} rowId={({ name }) => name} />
}

it("a table keeps the buttons of its rows when its columns are made again", async () => {
  renderApp(<Settings />)
  const button = await screen.findByRole("button", { name: "Change brokerName" })
  fireEvent.click(button)
  expect(await screen.findByRole("button", { name: "Edit brokerName" })).toBe(button)
})
