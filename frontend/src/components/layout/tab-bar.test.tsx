import { screen } from "@testing-library/react"
import { afterEach, expect, it, vi } from "vitest"
import { renderApp } from "@/testing/render"
import { TabBar } from "./tab-bar"

afterEach(() => vi.restoreAllMocks())

it("shows the chosen tab where the bar is narrower than its tabs, as on a phone", async () => {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300)
  vi.spyOn(HTMLElement.prototype, "offsetWidth", "get").mockReturnValue(60)
  vi.spyOn(HTMLElement.prototype, "offsetLeft", "get").mockImplementation(function (this: HTMLElement) {
    return this.getAttribute("role") === "tab" ? 520 : 20
  })
  renderApp(<TabBar tabs={[{ id: "one", label: "One" }, { id: "two", label: "Two" }]} />, { at: "/?tab=two" })
  expect((await screen.findByRole("tablist")).scrollLeft).toBe(380)
})
