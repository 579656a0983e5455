import { screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import type { TopicNote as Note } from "@/lib/api-types"
import { admin, reader } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { TopicNote } from "./topic-note"

const NOTE = "GET /api/v1/clusters/local/topics/orders/note"
const SET = "PUT /api/v1/clusters/local/topics/orders/note"

const note = (text: string, etag: string): Note => ({
  text,
  html: text === "" ? "" : `<p><strong>${text}</strong></p>`,
  written_by: text === "" ? null : "olga",
  written_at: text === "" ? null : "2026-05-01T08:00:00.000Z",
  etag,
})

const show = (me = admin()) => renderApp(<TopicNote cluster="local" topic="orders" />, { at: "/topics/orders?tab=note", me })

describe("the note of a topic", () => {
  it("is written where there is none, naming what was there", async () => {
    answer(NOTE, note("", '"none"'))
    answer(SET, note("Ask Till.", '"one"'))
    const { user } = show()
    expect(await screen.findByText("Nobody has written a note yet")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Write a note" }))
    await user.type(screen.getByLabelText("Text in Markdown"), "Ask Till.")
    await user.click(screen.getByRole("button", { name: "Save note" }))
    expect((await screen.findByText("Ask Till.")).tagName).toBe("STRONG")
    expect(screen.getByText(/Last written by olga/)).toBeTruthy()
    const [sent] = requests(SET)
    expect(sent?.body).toEqual({ text: "Ask Till." })
    expect(sent?.headers.get("If-Match")).toBe('"none"')
  })

  it("is not replaced unseen when somebody else wrote meanwhile", async () => {
    answer(NOTE, note("Ask Till.", '"one"'))
    refuse(SET, 412, "PRECONDITION_FAILED", "It was changed meanwhile.")
    const { user } = show()
    await user.click(await screen.findByRole("button", { name: "Edit" }))
    await user.type(screen.getByLabelText("Text in Markdown"), " Or Tom.")
    answer(NOTE, note("Ask Nadia.", '"two"'))
    await user.click(screen.getByRole("button", { name: "Save note" }))
    expect(await screen.findByText(/olga changed the note while you were writing/)).toBeTruthy()
    // What was typed is still there, and replaces the other text only on request
    answer(SET, note("Ask Till. Or Tom.", '"three"'))
    await user.click(screen.getByRole("button", { name: "Replace theirs with mine" }))
    await user.click(screen.getByRole("button", { name: "Save note" }))
    expect(await screen.findByText("Ask Till. Or Tom.")).toBeTruthy()
    await waitFor(() => expect(requests(SET).map(({ headers }) => headers.get("If-Match"))).toEqual(['"one"', '"two"']))
  })

  it("may be read and not changed without the right", async () => {
    answer(NOTE, note("Ask Till.", '"one"'))
    show(reader())
    expect(await screen.findByText("Ask Till.")).toBeTruthy()
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Edit" }).disabled).toBe(true)
  })
})
