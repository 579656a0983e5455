import { screen, within } from "@testing-library/react"
import i18next from "i18next"
import { beforeEach, describe, expect, it } from "vitest"
import { message } from "@/testing/factories"
import { renderApp } from "@/testing/render"
import { answer, refuse } from "@/testing/server"
import { chosenMessage } from "../comparison"
import { ComparePage } from "./compare-page"
import { ComparisonBar } from "./comparison-bar"
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
  beforeEach(() => chosenMessage.set(null))

  it("shows it whole, and chooses it for a comparison, which a bar says and takes back", async () => {
    answer(ONE, message("AC11"))
    answer(`${ONE}/deliveries`, { items: [{ group: "risk", state: "consumed", behind: null }] })
    answer(`${ONE}/timeline`, { events: [], missing: [], not_known: ["Nobody records who read it."] })
    const { user } = renderApp(
      <>
        <ComparisonBar cluster="local" />
        <MessagePage cluster="local" id="AC11" />
      </>,
      { at: "/messages/AC11?topic=orders" },
    )
    expect(await screen.findByText('"A17"')).toBeTruthy()
    expect(await screen.findByText("Consumed")).toBeTruthy()
    expect(await screen.findByText("Nobody records who read it.")).toBeTruthy()
    await user.click(screen.getByRole("button", { name: "Compare with another message" }))
    expect(screen.getByRole("status").textContent).toContain("Chosen for a comparison: AC11 in orders.")
    expect(sessionStorage.getItem("gantry.comparison")).toBe('{"cluster":"local","id":"AC11","topic":"orders"}')
    await user.click(within(screen.getByRole("status")).getByRole("button", { name: "Take back" }))
    expect(screen.queryByText(/Chosen for a comparison/)).toBeNull()
    expect(screen.getByRole("button", { name: "Compare with another message" })).toBeTruthy()
  })

  it("says in Chinese that there is no such message, and offers nothing to compare", async () => {
    await i18next.changeLanguage("zh")
    refuse("GET /api/v1/clusters/local/messages/nothere", 404, "NOT_FOUND", "No message of topic 'orders' has the id 'nothere'.")
    renderApp(<MessagePage cluster="local" id="nothere" />, { at: "/messages/nothere?topic=orders" })
    expect(await screen.findByText("Topic orders 中没有 ID 为 nothere 的消息")).toBeTruthy()
    expect(screen.queryByRole("button", { name: i18next.t("compare.first") })).toBeNull()
    await i18next.changeLanguage("en")
  })

  it("sets it beside the message that was chosen on another page, if it is of the same cluster", async () => {
    answer(OTHER, message("AC12"))
    chosenMessage.set({ cluster: "local", id: "AC11", topic: "orders" })
    const { user, address, unmount } = renderApp(<MessagePage cluster="local" id="AC12" />, { at: "/messages/AC12?topic=orders" })
    await user.click(await screen.findByRole("button", { name: "Compare with AC11" }))
    expect(address()).toBe("/messages/compare?a=AC11&aTopic=orders&b=AC12&bTopic=orders")
    unmount()
    chosenMessage.set({ cluster: "east", id: "AC11", topic: "orders" })
    renderApp(<MessagePage cluster="local" id="AC12" />, { at: "/messages/AC12?topic=orders" })
    expect(await screen.findByRole("button", { name: "Compare with another message" })).toBeTruthy()
  })

  it("says that nothing has the id, and what a link without a topic lacks", async () => {
    refuse(ONE, 404, "NOT_FOUND", "No message of topic 'orders' has the id 'AC11'.")
    const { unmount } = renderApp(<MessagePage cluster="local" id="AC11" />, { at: "/messages/AC11?topic=orders" })
    expect(await screen.findByText("Not found")).toBeTruthy()
    unmount()
    renderApp(<MessagePage cluster="local" id="AC11" />, { at: "/messages/AC11" })
    expect(await screen.findByText("The link names no topic")).toBeTruthy()
    expect(screen.getByRole("link", { name: "Choose its topic" }).getAttribute("href")).toBe("/messages?mode=id&id=AC11")
  })
})
