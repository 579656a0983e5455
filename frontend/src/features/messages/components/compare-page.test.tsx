import { screen } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { message } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse } from "@/testing/server"
import { ComparePage } from "./compare-page"
import { MessagePage } from "./message-page"

const ONE = "GET /api/v1/clusters/local/messages/AC11"
const OTHER = "GET /api/v1/clusters/local/messages/AC12"
const whole = (id: string, text: string, properties: Record<string, string>) =>
  message(id, { body: { encoding: "json", data: JSON.parse(text) as unknown, text }, properties })

describe("two messages", () => {
  it("stand side by side, with what differs marked by a sign", async () => {
    answer(ONE, whole("AC11", '{"id":12345678901234567890123,"to":"a"}', { KEYS: "A17", source: "web" }))
    answer(OTHER, whole("AC12", '{"id":12345678901234567890124,"to":"a"}', { KEYS: "A17" }))
    renderApp(<ComparePage cluster="local" />, { at: "/messages/compare?a=AC11&aTopic=orders&b=AC12&bTopic=orders" })
    expect(await screen.findByText("1 line differs")).toBeTruthy()
    // The last digit, which a number of JavaScript would lose
    expect(screen.getByText('"id": 12345678901234567890123,', { exact: false })).toBeTruthy()
    const row = screen.getByRole("row", { name: /source/ })
    expect(row.textContent).toBe("source≠web—")
    expect(screen.getByRole("row", { name: /KEYS/ }).textContent).toBe("KEYSA17A17")
  })

  it("are asked for by a link that names only one", async () => {
    renderApp(<ComparePage cluster="local" />, { at: "/messages/compare?a=AC11&aTopic=orders" })
    expect(await screen.findByText("The link does not name two messages")).toBeTruthy()
  })
})

describe("the page of a message", () => {
  it("shows it whole, and remembers it for a comparison in the address", async () => {
    answer(ONE, message("AC11"))
    answer(`${ONE}/deliveries`, { items: [{ group: "risk", state: "consumed", behind: null }] })
    answer(`${ONE}/timeline`, { events: [], missing: [], not_known: ["Nobody records who read it."] })
    const { user, address } = renderApp(<MessagePage cluster="local" id="AC11" />, { at: "/messages/AC11?topic=orders" })
    expect(await screen.findByText('"A17"')).toBeTruthy()
    expect(await screen.findByText("Consumed")).toBeTruthy()
    expect(await screen.findByText("Nobody records who read it.")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Compare with another message" }))
    expect(address()).toContain("with=AC11&withTopic=orders")
  })

  it("says that nothing has the id, and what a link without a topic lacks", async () => {
    refuse(ONE, 404, "NOT_FOUND", "No message of topic 'orders' has the id 'AC11'.")
    const { unmount } = renderApp(<MessagePage cluster="local" id="AC11" />, { at: "/messages/AC11?topic=orders" })
    expect(await screen.findByText("Not found")).toBeTruthy()
    unmount()
    renderApp(<MessagePage cluster="local" id="AC11" />, { at: "/messages/AC11" })
    expect(await screen.findByText("The link names no topic")).toBeTruthy()
  })
})
