import { screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { auditEntry, page } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { AuditPage } from "./audit-page"

const AUDIT = "GET /api/v1/audit"
const show = (at = "/audit") => renderApp(<AuditPage />, { at })
const entries = [
  auditEntry({ id: 3, actor: "olga", action: "topic.update", resource: "local/topics/orders", before: { write_queues: 4 }, after: { write_queues: 8 } }),
  auditEntry({ id: 2, actor: "nadia", action: "group.delete", resource: "local/groups/billing", result: "refused", address: "10.0.0.9" }),
]

describe("the record of changes", () => {
  it("asks for what the address filters by, and writes what is typed into the address", async () => {
    answer(AUDIT, page(entries))
    const { user, address } = show("/audit?actor=olga")
    await screen.findByText("local/topics/orders")
    expect(requests(AUDIT)[0]?.query.get("actor")).toBe("olga")
    await user.type(screen.getByPlaceholderText("Filter by resource"), "orders")
    await waitFor(() => expect(address()).toContain("resource=orders"))
    await waitFor(() => expect(requests(AUDIT).at(-1)?.query.get("resource")).toBe("orders"))
    expect(address()).toContain("actor=olga")
  })

  it("shows an attempt that was refused as refused, with where it came from", async () => {
    answer(AUDIT, page(entries))
    show()
    const row = within((await screen.findByText("local/groups/billing")).closest("tr") as HTMLElement)
    expect(row.getByText("refused")).toBeTruthy()
    expect(row.getByText("10.0.0.9")).toBeTruthy()
  })

  it("opens one change field by field, and its place is in the address", async () => {
    answer(AUDIT, page(entries))
    const { user, address } = show()
    await user.click(await screen.findByText("local/topics/orders"))
    const drawer = within(await screen.findByRole("complementary"))
    expect(drawer.getByText("olga changed topic orders")).toBeTruthy()
    expect(drawer.getByText("write_queues").closest("tr")?.textContent).toBe("write_queues48")
    expect(address()).toContain("open=3")
  })

  it("calls a pause a pause", async () => {
    answer(AUDIT, page([auditEntry({ id: 3, actor: "olga", action: "group.pause", resource: "local/groups/billing" }), auditEntry({ id: 2, actor: "olga", action: "topic.resume", resource: "local/topics/orders", result: "failed" })]))
    const { user } = show()
    await user.click(await screen.findByText("local/groups/billing"))
    expect(await screen.findByText("olga paused group billing")).toBeTruthy()
    await user.click(await screen.findByLabelText("Next row"))
    expect(await screen.findByText("olga tried to resume topic orders: failed")).toBeTruthy()
  })

  it("walks to the next change, and no further than the last", async () => {
    answer(AUDIT, page(entries))
    const { user, address } = show("/audit?open=3")
    await user.click(await screen.findByLabelText("Next row"))
    await waitFor(() => expect(address()).toContain("open=2"))
    expect(await screen.findByText("No field changed.")).toBeTruthy()
    expect(screen.getByLabelText<HTMLButtonElement>("Next row").disabled).toBe(true)
  })

  it("reads the next page where the first one ends", async () => {
    answer(AUDIT, ({ query }: { query: URLSearchParams }) => ({
      body: query.get("cursor") ? page([auditEntry({ id: 1, resource: "local/topics/old" })]) : page(entries, "more"),
    }))
    show()
    expect(await screen.findByText("local/topics/old")).toBeTruthy()
    expect(requests(AUDIT).at(-1)?.query.get("cursor")).toBe("more")
  })

  it("says that nothing was changed yet, which is not that it could not be read", async () => {
    answer(AUDIT, page([]))
    const { unmount } = show()
    expect(await screen.findByText("Nothing has changed yet")).toBeTruthy()
    unmount()
    refuse(AUDIT, 503, "DRAINING", "Shutting down.")
    show()
    expect(await screen.findByText("The audit log could not be read")).toBeTruthy()
  })

  it("searches by words, result and time, and exports just what it shows", async () => {
    answer(AUDIT, page(entries))
    const { user, address } = show("/audit?from=2026-11-20T00:00:00Z")
    await user.type(await screen.findByPlaceholderText("Search by words"), "billing")
    await user.click(screen.getByRole("combobox", { name: "Result" }))
    await user.click(await screen.findByRole("option", { name: "refused", hidden: true }))
    await waitFor(() => expect(address()).toContain("q=billing"))
    await waitFor(() =>
      expect(Object.fromEntries(requests(AUDIT).at(-1)?.query ?? [])).toMatchObject({ q: "billing", result: "refused", from: "2026-11-20T00:00:00Z" }),
    )
    await user.click(screen.getByRole("button", { name: "Export" }))
    const file = new URL((await screen.findByRole<HTMLAnchorElement>("menuitem", { name: /JSON Lines/ })).href)
    expect(file.pathname).toBe("/api/v1/audit:export")
    expect(Object.fromEntries(file.searchParams)).toMatchObject({ as: "jsonl", q: "billing", result: "refused", from: "2026-11-20T00:00:00Z" })
  })

  it("says that nothing matches, which is not that nothing has changed", async () => {
    answer(AUDIT, page([]))
    show("/audit?result=failed")
    expect(await screen.findByText("No record matches")).toBeTruthy()
  })

  it("keeps the list while a time is half typed or the range is reversed, and asks for nothing", async () => {
    answer(AUDIT, page(entries))
    const { user } = show()
    await screen.findByText("local/topics/orders")
    const asked = requests(AUDIT).length
    await user.type(screen.getByLabelText(/^From/), "yesterday")
    expect(await screen.findByText(/2026-11-21 14:10:00$/)).toBeTruthy()
    expect(screen.getByText("local/topics/orders")).toBeTruthy()
    expect(requests(AUDIT)).toHaveLength(asked)
    await user.clear(screen.getByLabelText(/^From/))
    await user.type(screen.getByLabelText(/^From/), "2026-11-21 10:00:00")
    await waitFor(() => expect(requests(AUDIT).at(-1)?.query.get("from")).toBeTruthy())
    const first = requests(AUDIT).length
    await user.click(screen.getByLabelText(/^Before/))
    await user.paste("2026-11-20 10:00:00")
    expect(await screen.findByText("It must be later than the start")).toBeTruthy()
    expect(requests(AUDIT)).toHaveLength(first)
    expect(screen.getByText("local/topics/orders")).toBeTruthy()
  })

  it("asks for nothing with an address whose range is none, and says so", async () => {
    answer(AUDIT, page(entries))
    show("/audit?from=yesterday")
    expect(await screen.findByText(/cannot be read/)).toBeTruthy()
    expect(requests(AUDIT)).toHaveLength(0)
  })
})
