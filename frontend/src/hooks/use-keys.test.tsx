import { fireEvent, render, screen } from "@testing-library/react"
import userEvent from "@testing-library/user-event"
import { afterEach, describe, expect, it, vi } from "vitest"
import { useKeys } from "./use-keys"

const pressed: string[] = []
const keys = Object.fromEntries(["r", "g t", "g g", "/", "Enter"].map((name) => [name, () => void pressed.push(name)]))

function Page({ bound = keys, onClick }: { bound?: typeof keys; onClick?: () => void }) {
  useKeys(bound)
  return (
    <>
      <input aria-label="words" />
      <textarea aria-label="text" />
      <button type="button" onClick={onClick}>
        Create
      </button>
      <a href="#orders" onClick={onClick}>
        orders
      </a>
    </>
  )
}

afterEach(() => {
  pressed.length = 0
  vi.useRealTimers()
})

describe("keys of a page", () => {
  it("act alone, and one after another", async () => {
    render(<Page />)
    await userEvent.keyboard("r/gtgg")
    expect(pressed).toEqual(["r", "/", "g t", "g g"])
  })

  it("are no sequence when the second comes late", () => {
    vi.useFakeTimers()
    render(<Page />)
    fireEvent.keyDown(window, { key: "g" })
    vi.advanceTimersByTime(801)
    fireEvent.keyDown(window, { key: "t" })
    expect(pressed).toEqual([])
  })

  it.each(["words", "text"])("are letters while one types %s", async (label) => {
    render(<Page />)
    await userEvent.type(screen.getByLabelText(label), "r/gt")
    expect(pressed).toEqual([])
    expect(screen.getByLabelText<HTMLInputElement>(label).value).toBe("r/gt")
  })

  it("are left to the browser with a modifier", async () => {
    render(<Page />)
    await userEvent.keyboard("{Control>}r{/Control}{Meta>}r{/Meta}{Alt>}r{/Alt}")
    expect(pressed).toEqual([])
  })

  it("keep from the browser only what they use", () => {
    render(<Page />)
    // An event that was not taken is true.
    expect(fireEvent.keyDown(window, { key: "/" })).toBe(false)
    expect(fireEvent.keyDown(window, { key: "x" })).toBe(true)
  })

  it.each(["Create", "orders"])("leave Enter to %s, when that has the focus", async (words) => {
    const onClick = vi.fn()
    render(<Page onClick={onClick} />)
    screen.getByText(words).focus()
    await userEvent.keyboard("{Enter}")
    expect(onClick).toHaveBeenCalledTimes(1)
    expect(pressed).toEqual([])
    await userEvent.keyboard("r")
    expect(pressed).toEqual(["r"])
  })

  it("do what the page means now, and nothing when it is left", async () => {
    const { rerender, unmount } = render(<Page />)
    rerender(<Page bound={{ r: () => void pressed.push("other") }} />)
    await userEvent.keyboard("r")
    unmount()
    await userEvent.keyboard("r")
    expect(pressed).toEqual(["other"])
  })
})
