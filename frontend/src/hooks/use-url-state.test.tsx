import { useRouter } from "@tanstack/react-router"
import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { renderApp } from "@/testing/render"
import { type UrlState, useUrlState } from "./use-url-state"

type Change = ReturnType<typeof useUrlState>[1]

function Page({ acts }: { acts: Record<string, (change: Change) => void> }) {
  const [state, change] = useUrlState()
  const { history } = useRouter()
  return (
    <>
      <p>{`state ${JSON.stringify(state)}`}</p>
      {Object.entries(acts).map(([name, act]) => (
        <button key={name} type="button" onClick={() => act(change)}>
          {name}
        </button>
      ))}
      <button type="button" onClick={() => history.back()}>
        back
      </button>
    </>
  )
}

const show = (at: string, acts: Record<string, (change: Change) => void> = {}) => renderApp(<Page acts={acts} />, { at })
const state = async (): Promise<UrlState> => JSON.parse((await screen.findByText(/^state/)).textContent.slice("state ".length)) as UrlState

describe("what the address keeps", () => {
  it("is read as the words that stand there, never as numbers or objects", async () => {
    show("/topics?queue=2&offset=007&search=%7B%22a%22%3A1%7D&flag=true")
    expect(await state()).toEqual({ queue: "2", offset: "007", search: '{"a":1}', flag: "true" })
  })

  it("changes in part; what is emptied leaves no trace", async () => {
    const { user, address } = show("/topics?cluster=far&search=or&kind=dlq", { go: (change) => change({ search: "a b&c", kind: undefined, sort: "" }) })
    await user.click(await screen.findByText("go"))
    await waitFor(() => expect(address()).toBe("/topics?cluster=far&search=a+b%26c"))
    expect(await state()).toEqual({ cluster: "far", search: "a b&c" })
  })

  it("takes two changes in a row, and loses none", async () => {
    const { user, address } = show("/topics", {
      go: (change) => {
        change({ search: "or" })
        change({ kind: "all" })
      },
    })
    await user.click(await screen.findByText("go"))
    await waitFor(() => expect(address()).toBe("/topics?search=or&kind=all"))
  })

  it("makes a step for the back button only where that is asked for", async () => {
    const { user, address } = show("/topics", { open: (change) => change({ message: "A1" }, { push: true }), filter: (change) => change({ search: "or" }) })
    await user.click(await screen.findByText("filter"))
    await waitFor(() => expect(address()).toBe("/topics?search=or"))
    await user.click(screen.getByText("open"))
    await waitFor(() => expect(address()).toBe("/topics?search=or&message=A1"))
    await user.click(screen.getByText("filter"))
    await user.click(screen.getByText("back"))
    await waitFor(() => expect(address()).toBe("/topics?search=or"))
  })
})
