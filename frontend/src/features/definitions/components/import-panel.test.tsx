import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { button } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { ImportPanel } from "./import-panel"

const DIFF = "POST /api/v1/definitions:diff"
const APPLY = "POST /api/v1/definitions:apply"
const file = { format: "gantry.definitions/1", clusters: [{ name: "local", topics: [{ name: "orders", read_queues: 8 }] }] }
const plan = {
  items: [
    { section: "topics", cluster: "local", name: "orders", action: "change", changes: [{ field: "read_queues", before: { "broker-a": 4 }, after: 8 }], reason: null },
    { section: "roles", cluster: null, name: "auditor", action: "refused", changes: [], reason: "the right admin is missing" },
  ],
  counts: { create: 0, change: 1, refused: 1, same: 3, kept: 2 },
}
const outcome = (result: string, counts: object) => ({
  items: [{ section: "topics", cluster: "local", name: "orders", action: "change", result, reason: null, brokers: [{ broker: "broker-a", done: result === "done", reason: "broker-a is too busy to answer" }] }],
  counts: { done: 0, partial: 0, failed: 0, refused: 0, waiting: 0, ...counts },
})

async function compared(text = JSON.stringify(file)) {
  const app = renderApp(<ImportPanel cluster="local" />)
  await app.user.click(await screen.findByLabelText("File"))
  await app.user.paste(text)
  return app
}

describe("taking definitions from a file", () => {
  it("shows what would change before it makes exactly that, and the outcome of each", async () => {
    answer(DIFF, plan, 200, { ETag: '"seen"' })
    answer(APPLY, outcome("partial", { partial: 1 }), 207)
    const { user } = await compared()
    await user.click(button("Compare"))
    expect(await screen.findByText("0 to create, 1 to change, 1 refused. 3 are as in the file; 2 are not in it and stay.")).toBeTruthy()
    expect(screen.getByText('read_queues: {"broker-a":4} → 8')).toBeTruthy()
    expect(screen.getByText("the right admin is missing")).toBeTruthy()
    expect(requests(DIFF)[0]?.body).toEqual({ definitions: file })
    await user.click(button("Make 1 change"))
    expect(await screen.findByText("0 done, 1 not or only partly done, 0 refused.")).toBeTruthy()
    expect(screen.getByText("broker-a: broker-a is too busy to answer")).toBeTruthy()
    expect(requests(APPLY)[0]?.headers.get("If-Match")).toBe('"seen"')
  })

  it("asks to compare again when something has changed since", async () => {
    answer(DIFF, plan, 200, { ETag: '"seen"' })
    refuse(APPLY, 412, "PRECONDITION_FAILED", "It has changed.")
    const { user } = await compared()
    await user.click(button("Compare"))
    await user.click(await screen.findByRole("button", { name: "Make 1 change" }))
    expect(await screen.findByText(/Something has changed since the comparison/)).toBeTruthy()
    await user.click(button("Compare again"))
    expect(requests(DIFF)).toHaveLength(2)
  })

  it("says that there is more to do when one request could not make all changes", async () => {
    answer(DIFF, plan, 200, { ETag: '"seen"' })
    answer(APPLY, outcome("done", { done: 1, waiting: 7 }), 207)
    const { user } = await compared()
    await user.click(button("Compare"))
    await user.click(await screen.findByRole("button", { name: "Make 1 change" }))
    expect(await screen.findByText(/7 changes wait/)).toBeTruthy()
  })

  it("puts the file's cluster into this one if asked, and forgets the comparison of something else", async () => {
    answer(DIFF, plan)
    const { user } = await compared()
    await user.click(button("Compare"))
    await screen.findByText(/1 to change/)
    await user.click(screen.getByText("local, from the file's only cluster"))
    expect(screen.queryByText(/1 to change/)).toBeNull()
    await user.click(button("Compare"))
    await screen.findByText(/1 to change/)
    expect(requests(DIFF)[1]?.body).toEqual({ definitions: file, cluster: "local" })
  })

  it("sends nothing that is no JSON, and says where the fault is", async () => {
    await compared("{oops")
    expect(await screen.findByText(/This is no JSON: /)).toBeTruthy()
    expect(button("Compare").hasAttribute("disabled")).toBe(true)
    expect(requests(DIFF)).toHaveLength(0)
  })
})
