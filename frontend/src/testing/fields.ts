import { screen, waitFor } from "@testing-library/react"
import type { UserEvent } from "@testing-library/user-event"
import { answer } from "./server"

/** A field by its label; descriptions and marks after the label do not matter. */
export const field = (label: string): HTMLInputElement => screen.getByLabelText<HTMLInputElement>(startingWith(label), { selector: "input, textarea" })

export const findField = (label: string): Promise<HTMLInputElement> =>
  screen.findByLabelText<HTMLInputElement>(startingWith(label), { selector: "input, textarea" })

const startingWith = (label: string) => new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`)

/** A button by its words, found without the tree of roles: that is slow for a whole page. */
export function button(words: string): HTMLButtonElement {
  const found = screen.getAllByText(words).map((element) => element.closest("button")).find((element) => element !== null)
  if (!found) throw new Error(`no button says "${words}"`)
  return found
}

/** What stands under a field: why it was refused. */
export const errorOf = (input: HTMLElement): string | undefined =>
  input.closest(".mantine-InputWrapper-root")?.querySelector(".mantine-InputWrapper-error")?.textContent ?? undefined

export async function retype(user: UserEvent, input: HTMLElement, text: string): Promise<void> {
  await user.clear(input)
  if (text !== "") await user.type(input, text)
}

/** Answer with a problem that names the fields it is about. */
export function refuseFields(line: string, fields: Record<string, string>, status = 422): void {
  const errors = Object.entries(fields).map(([name, detail]) => ({ pointer: `#/${name}`, code: "invalid", detail }))
  answer(line, { title: "The request is not valid", status, code: "INVALID", detail: Object.values(fields).join(" "), request_id: "01JDX6R8K3ZC5W2N", retryable: false, errors }, status)
}

/** An answer that comes when the test says so. */
export function held<T>(): { promise: Promise<T>; settle: (value: T) => void } {
  let settle: (value: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    settle = resolve
  })
  return { promise, settle }
}

/** Opens a list of choices and takes one by its words. */
export async function choose(user: UserEvent, input: HTMLElement, words: string): Promise<void> {
  await user.click(input)
  const option = await waitFor(() => {
    const list = document.getElementById(input.getAttribute("aria-controls") ?? "")
    const found = [...(list?.querySelectorAll<HTMLElement>("[role=option]") ?? [])].find(({ textContent }) => textContent === words)
    if (!found) throw new Error(`no choice says "${words}"`)
    return found
  })
  await user.click(option)
}
