import { TextInput } from "@mantine/core"
import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { useState } from "react"
import { describe, expect, it, vi } from "vitest"
import { reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { FormDrawer } from "./form-drawer"

interface Spies {
  onSubmit: () => void
  onClose: () => void
}

function Example({ onSubmit, onClose, isBusy = false, answer }: Spies & { isBusy?: boolean; answer?: string }) {
  const [name, setName] = useState("")
  return (
    <FormDrawer
      title="Create a thing"
      action={name === "" ? "Create a thing" : `Create ${name}`}
      right="manage"
      isReady={name !== ""}
      isBusy={isBusy}
      onSubmit={onSubmit}
      onClose={onClose}
      request={{ method: "POST", path: "/api/v1/things", body: { name } }}
      answer={answer && <p>{answer}</p>}
    >
      <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} />
    </FormDrawer>
  )
}

const spies = (): Spies => ({ onSubmit: vi.fn(), onClose: vi.fn() })
const formOf = (field: HTMLElement) => field.closest("form") as HTMLFormElement

describe("a drawer that creates something", () => {
  it("is a landmark with the title as its name and its head", async () => {
    renderApp(<Example {...spies()} />)
    await screen.findByRole("complementary", { name: "Create a thing" })
    expect(screen.getByRole("heading", { name: "Create a thing" })).toBeTruthy()
  })

  it("sends nothing while a field is missing, neither by the button nor by Enter", async () => {
    const seen = spies()
    renderApp(<Example {...seen} />)
    const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Create a thing" })
    expect(button.disabled).toBe(true)
    fireEvent.submit(formOf(screen.getByLabelText("Name")))
    expect(seen.onSubmit).not.toHaveBeenCalled()
  })

  it("names what will be created on the button, and shows the request as a command", async () => {
    const { user } = renderApp(<Example {...spies()} />)
    await user.type(await screen.findByLabelText("Name"), "orders")
    expect(screen.getByRole("button", { name: "Create orders" })).toBeTruthy()
    expect(screen.getByText(/POST/).closest("pre")?.textContent).toContain('{"name":"orders"}')
  })

  it("stays until the answer is there, whatever is pressed", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} isBusy />)
    const cancel = await screen.findByRole<HTMLButtonElement>("button", { name: "Cancel" })
    expect([cancel.disabled, screen.getByRole<HTMLButtonElement>("button", { name: "Close" }).disabled]).toEqual([true, true])
    await user.keyboard("{Escape}")
    expect(seen.onClose).not.toHaveBeenCalled()
  })

  it("sends on Enter in a field", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} />)
    await user.type(await screen.findByLabelText("Name"), "orders{Enter}")
    expect(seen.onSubmit).toHaveBeenCalledTimes(1)
  })

  it("sends nothing again while the first request is under way", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} isBusy />)
    const field = await screen.findByLabelText("Name")
    await user.type(field, "orders")
    fireEvent.submit(formOf(field))
    expect(seen.onSubmit).not.toHaveBeenCalled()
  })

  it("closes by the button, by the cross and by Escape, without sending", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} />)
    await user.click(await screen.findByRole("button", { name: "Cancel" }))
    await user.click(screen.getByRole("button", { name: "Close" }))
    await user.keyboard("{Escape}")
    expect(seen.onClose).toHaveBeenCalledTimes(3)
    expect(seen.onSubmit).not.toHaveBeenCalled()
  })

  it("asks before what was filled in is lost, and not when nothing was", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} />)
    await user.type(await screen.findByLabelText("Name"), "orders")
    await user.click(screen.getByRole("button", { name: "Close" }))
    const question = within(await screen.findByRole("dialog", { name: "Close this form?" }))
    expect(question.getByText("What was filled in has not been sent, and is lost.")).toBeTruthy()
    await user.keyboard("{Escape}")
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull())
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("orders")
    expect(seen.onClose).not.toHaveBeenCalled()
    // The way out at the end of the form is meant as it is pressed.
    await user.click(screen.getByRole("button", { name: "Cancel" }))
    expect(seen.onClose).toHaveBeenCalledTimes(1)
  })

  it("asks before a secret that is shown only now is gone", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} answer="The token is gnt_1." />)
    await screen.findByText("The token is gnt_1.")
    await user.keyboard("{Escape}")
    expect(await screen.findByText("What is shown here is shown only now.")).toBeTruthy()
    expect(seen.onClose).not.toHaveBeenCalled()
    await user.click(screen.getByRole("button", { name: "Close it" }))
    expect(seen.onClose).toHaveBeenCalledTimes(1)
  })

  it("stays open for an Escape typed inside a field", async () => {
    const seen = spies()
    const { user } = renderApp(<Example {...seen} />)
    await user.type(await screen.findByLabelText("Name"), "x{Escape}")
    expect(seen.onClose).not.toHaveBeenCalled()
  })

  it("locks its fields and says why to somebody without the right", async () => {
    renderApp(<Example {...spies()} />, { me: reader() })
    const field = await screen.findByLabelText("Name")
    expect(field.closest("fieldset")?.disabled).toBe(true)
    expect(screen.getByRole("complementary").textContent).toContain("Viewer")
  })

  it("puts the answer in the place of the form", async () => {
    renderApp(<Example {...spies()} answer="The token is gnt_1." />)
    await screen.findByText("The token is gnt_1.")
    expect(screen.queryByLabelText("Name")).toBeNull()
  })
})
