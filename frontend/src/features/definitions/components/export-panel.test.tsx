import { screen } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import * as files from "@/lib/save-file"
import { ExportPanel } from "./export-panel"

const GET = "GET /api/v1/definitions"
const topic = { name: "orders", read_queues: 4, write_queues: 4, permission: "rw", message_type: null }
const file = {
  format: "gantry.definitions/1",
  exported_at: "2026-05-01T08:00:00.000Z",
  clusters: [{ name: "local", topics: [topic], groups: null }],
  roles: null,
  schedules: [],
  alert_rules: [],
  remarks: [
    { code: "not_allowed", section: "roles", cluster: null, name: null, text: "Left out" },
    { code: "unreachable", section: "groups", cluster: "local", name: null, text: "the cluster did not answer within 5 s" },
  ],
}

describe("saving the definitions", () => {
  it("saves what the server gives as a readable file, and says what is not in it", async () => {
    answer(GET, file)
    const saved = vi.spyOn(files, "saveFile").mockReturnValue()
    const { user } = renderApp(<ExportPanel cluster="local" />)
    await user.click(await screen.findByRole("button", { name: "Save as a file" }))
    expect(await screen.findByText(/The file has 1 topics, 0 groups/)).toBeTruthy()
    expect(screen.getByText("Roles: left out, because you may not read them")).toBeTruthy()
    expect(screen.getByText(/local · Groups: left out: the cluster did not answer/)).toBeTruthy()
    expect(saved).toHaveBeenCalledWith("gantry-definitions-2026-05-01T080000.json", "application/json", `${JSON.stringify(file, null, 2)}\n`)
  })

  it("can be of one cluster", async () => {
    answer(GET, file)
    vi.spyOn(files, "saveFile").mockReturnValue()
    const { user } = renderApp(<ExportPanel cluster="east" />)
    await user.click(await screen.findByText("east only"))
    await user.click(await screen.findByRole("button", { name: "Save as a file" }))
    await screen.findByText(/The file has/)
    expect(requests(GET)[0]?.query.get("cluster")).toBe("east")
  })

  it("says that it could not be read, and saves nothing", async () => {
    refuse(GET, 503, "UNREACHABLE", "Redis cannot be reached.")
    const saved = vi.spyOn(files, "saveFile").mockReturnValue()
    saved.mockClear()
    const { user } = renderApp(<ExportPanel cluster="local" />)
    await user.click(await screen.findByRole("button", { name: "Save as a file" }))
    expect(await screen.findByText("The definitions could not be read")).toBeTruthy()
    expect(saved).not.toHaveBeenCalled()
  })
})
