import { TextInput } from "@mantine/core"
import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { admin, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { Fillable } from "./lock"

const form = (
  <Fillable right="produce">
    <TextInput label="Body" />
  </Fillable>
)

describe("a form", () => {
  it("says what is missing before anything is filled in, and takes nothing", async () => {
    renderApp(form, { me: reader() })
    expect(await screen.findByText("This needs the right “produce”, which the role Viewer does not have. An admin can grant it.")).toBeTruthy()
    expect(screen.getByLabelText("Body").matches(":disabled")).toBe(true)
  })

  it("is open to those who have the right", async () => {
    renderApp(form, { me: admin() })
    expect((await screen.findByLabelText("Body")).matches(":disabled")).toBe(false)
    expect(screen.queryByRole("note")).toBeNull()
  })
})
