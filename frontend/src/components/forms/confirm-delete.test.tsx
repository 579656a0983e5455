import { screen } from "@testing-library/react"
import { useState } from "react"
import { expect, it } from "vitest"
import { Problem } from "@/lib/problem"
import { renderApp } from "@/testing/render"
import { ConfirmDelete } from "./confirm-delete"

function Row({ remove }: { remove: () => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(true)
  return (
    <ConfirmDelete isOpen={isOpen} onClose={() => setOpen(false)} title="Delete nightly?" name="nightly" action="Delete" isBusy={false} remove={remove} done="It was deleted" failed="It was not deleted">
      <p>Its times are lost.</p>
    </ConfirmDelete>
  )
}

/** The list without the row, as it is read again before the answer is told. */
function List() {
  const [isThere, setThere] = useState(true)
  const remove = () => {
    setThere(false)
    return Promise.resolve()
  }
  return isThere ? <Row remove={remove} /> : null
}

it("says that it was deleted although its row is gone by then", async () => {
  const { user } = renderApp(<List />)
  await user.type(await screen.findByRole("textbox"), "nightly")
  await user.click(screen.getByRole("button", { name: "Delete" }))
  await screen.findByText("It was deleted")
})

it("stays open, with the name still typed, when the server refuses", async () => {
  const { user } = renderApp(<Row remove={() => Promise.reject(new Problem(409, { code: "CONFLICT", detail: "It is in use." }))} />)
  const typed = await screen.findByRole("textbox")
  await user.type(typed, "nightly")
  await user.click(screen.getByRole("button", { name: "Delete" }))
  await screen.findByText("It was not deleted")
  expect((typed as HTMLInputElement).value).toBe("nightly")
})
