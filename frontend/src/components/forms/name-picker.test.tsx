import { screen, waitFor } from "@testing-library/react"
import { useState } from "react"
import { expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { MOST_NAMES, NamePicker } from "./name-picker"

function Picker({ names }: { names: string[] }) {
  const [name, setName] = useState<string>()
  return (
    <>
      <NamePicker label="Topic" names={names} value={name} onChange={setName} />
      <output>{name ?? "none"}</output>
    </>
  )
}

async function typed(names: string[], text: string) {
  const { user } = renderApp(<Picker names={names} />)
  await user.type(await screen.findByRole("combobox", { name: "Topic" }), `${text}{Enter}`)
}

it("takes the very name that was typed, not one that contains it", async () => {
  await typed(["a-orders", "orders-copy", "orders"], "orders")
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("orders"))
})

it("takes the best match of a part of a name", async () => {
  await typed(["a-orders", "orders-copy"], "ord")
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("orders-copy"))
})

it("takes a typed name that a cut list does not hold, and none that a whole list does not hold", async () => {
  await typed(Array.from({ length: MOST_NAMES }, (_, index) => `topic-${index}`), "topic-9999")
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("topic-9999"))
})

it("takes nothing that a whole list does not hold", async () => {
  await typed(["orders"], "payments")
  expect(screen.getByRole("status").textContent).toBe("none")
})

it("takes what is typed where no name is known, and says so", async () => {
  const { user } = renderApp(<Picker names={[]} />)
  await user.click(await screen.findByRole("combobox", { name: "Topic" }))
  await screen.findByText("No name is known: type it in full.")
  await user.type(screen.getByRole("combobox", { name: "Topic" }), "orders{Enter}")
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("orders"))
})
