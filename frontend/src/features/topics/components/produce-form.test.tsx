import { fireEvent, screen, waitFor } from "@testing-library/react"
import { describe, expect, it } from "vitest"
import { reader } from "@/testing/factories"
import { button, choose, errorOf, field, findField, held } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, holdAnswer, refuse, requests, unplug } from "@/testing/server"
import { ProduceForm } from "./produce-form"

const SEND = "POST /api/v1/clusters/local/topics/orders/messages"

async function send() {
  const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
  await user.type(await screen.findByLabelText("Keys"), "A17")
  await user.click(screen.getByRole("button", { name: "Send to orders" }))
}

describe("the produce form", () => {
  it("sends over the data plane and shows where the message landed", async () => {
    answer(SEND, { results: [{ entry_id: "0", status: "stored", message_id: "AC110001000077D2A44F61E8B2", queue_id: 2, offset: 1881 }], stored: 1, failed: 0 }, 201)
    await send()
    expect(await screen.findByText("2 / 1,881")).toBeTruthy()
    expect(screen.getByText("Stored")).toBeTruthy()
    expect(requests(SEND)[0]?.body).toEqual({ messages: [{ keys: ["A17"], body: { encoding: "json", data: { hello: "harbour" } } }] })
  })

  it("prepares the message of a transaction, and leads to where it is decided", async () => {
    answer(SEND, { transaction_id: "t1.A", message_id: "AC11", topic: "orders", group: "GANTRY_TRANSACTIONS", stored_at: "2026-05-01T08:00:00.000Z", check_after_ms: null }, 201)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    await user.click(await screen.findByRole("button", { name: "Prepare as a transaction" }))
    const link = await screen.findByRole<HTMLAnchorElement>("link", { name: "Commit or roll back" })
    expect(link.getAttribute("href")).toContain("/transactions?open=t1.A")
    expect(requests(SEND)[0]?.query.get("transaction")).toBe("prepare")
    expect(requests(SEND)[0]?.body).toEqual({ body: { encoding: "json", data: { hello: "harbour" } } })
  })

  it("calls an unknown end unknown, never an error and never a success", async () => {
    refuse(SEND, 504, "SEND_UNCERTAIN", "The broker did not answer in 3 s.")
    await send()
    expect(await screen.findByText("It is not known whether the message was stored")).toBeTruthy()
    expect(screen.getByText("Search its key before sending again: A17")).toBeTruthy()
    expect(screen.queryByText("Stored")).toBeNull()
  })

  it("does not say that a message was not stored when nobody answered: it may have been", async () => {
    unplug(SEND)
    await send()
    expect(await screen.findByText("It is not known whether the message was stored")).toBeTruthy()
    expect(screen.queryByText("The message was not stored")).toBeNull()
  })

  it("says why a message was refused, and keeps what was typed", async () => {
    refuse(SEND, 413, "TOO_LARGE", "A message has at most 4 MB.")
    await send()
    expect(await screen.findByText("The message was not stored")).toBeTruthy()
    expect(screen.getAllByText(/A message has at most 4 MB\./)).toHaveLength(2)
    expect(screen.getByText("Failed")).toBeTruthy()
    expect(field("Keys").value).toBe("A17")
  })

  it("says of a message that a broker refused why, in its own line", async () => {
    answer(SEND, { results: [{ entry_id: "0", status: "failed", problem: { title: "Refused", status: 502, code: "BROKER_REFUSED", detail: "the disk of broker-a is full" } }], stored: 0, failed: 1 }, 207)
    await send()
    expect(await screen.findByText("the disk of broker-a is full")).toBeTruthy()
    expect(screen.getByText("Failed")).toBeTruthy()
    expect(screen.queryByText("Stored")).toBeNull()
    // It is not counted among the sent ones.
    expect(screen.getByRole("heading", { name: "Sent" }).parentElement?.textContent).toBe("Sent")
  })

  it("sends a burst a hundred at a time, counts them, and ends at the first request that fails", async () => {
    const results = Array.from({ length: 100 }, (_, place) => ({ entry_id: String(place), status: "stored", message_id: `ID${place}`, queue_id: 0, offset: place }))
    answer(SEND, { results, stored: 100, failed: 0 }, 201)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    fireEvent.change(await screen.findByRole("textbox", { name: "Body" }), { target: { value: '{"n":{{n}}}' } })
    await user.click(screen.getByText("Burst"))
    fireEvent.change(screen.getByLabelText("Messages"), { target: { value: "250" } })
    await user.click(screen.getByRole("button", { name: "Send 250 to orders" }))
    expect(await screen.findByText("300 of 250 stored")).toBeTruthy()
    const bodies = requests(SEND).map(({ body }) => (body as { messages: { body: { data: { n: number } } }[] }).messages)
    expect(bodies.map((each) => each.length)).toEqual([100, 100, 50])
    expect(bodies[2]?.[49]?.body.data).toEqual({ n: 250 })
    refuse(SEND, 503, "BROKER_BUSY", "The broker is busy.")
    await user.click(screen.getByRole("button", { name: "Send 250 to orders" }))
    expect(await screen.findByText("100 failed")).toBeTruthy()
    expect(requests(SEND)).toHaveLength(4)
  })

  it("takes the body from a file and keeps what was changed while that was read", async () => {
    answer(SEND, { results: [{ entry_id: "0", status: "stored", message_id: "ID0", queue_id: 0, offset: 0 }], stored: 1, failed: 0 }, 201)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    const bytes = held<ArrayBuffer>()
    const file = new File(["from the file"], "body.txt")
    file.arrayBuffer = () => bytes.promise
    await user.click(await screen.findByText("Burst"))
    fireEvent.change(document.querySelector("input[type=file]") as HTMLInputElement, { target: { files: [file] } })
    await user.click(screen.getByText("One message"))
    bytes.settle(new TextEncoder().encode("from the file").buffer as ArrayBuffer)
    await waitFor(() => expect(field("Body").value).toBe("from the file"))
    await user.click(button("Send to orders"))
    await waitFor(() => expect(requests(SEND)).toHaveLength(1))
    expect(requests(SEND)[0]?.body).toEqual({ messages: [{ body: { encoding: "text", data: "from the file" } }] })
  })

  it("leads from the message that was stored to the search for it", async () => {
    answer(SEND, { results: [{ entry_id: "0", status: "stored_not_flushed", message_id: "AC110001000077D2A44F61E8B2", queue_id: 2, offset: 1881 }], stored: 1, failed: 0 }, 201)
    const { user, address } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    await findField("Keys")
    await user.click(button("Send to orders"))
    expect(await screen.findByText("Not flushed")).toBeTruthy()
    await user.click(screen.getByText("AC11…61E8B2"))
    await waitFor(() => expect(address()).toBe("/messages?mode=id&topic=orders&id=AC110001000077D2A44F61E8B2"))
  })

  it("sends a message once while its answer is on the way", async () => {
    holdAnswer(SEND, held<object>().promise)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    await findField("Keys")
    await user.click(button("Send to orders"))
    await user.click(button("Send to orders"))
    expect(requests(SEND)).toHaveLength(1)
  })

  it("sends the delay, the tag and the properties that were filled in, and shows the same as a command", async () => {
    answer(SEND, { results: [], stored: 0, failed: 0 }, 201)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />)
    fireEvent.change(await findField("Tag"), { target: { value: "paid" } })
    fireEvent.change(field("Properties"), { target: { value: "source=web" } })
    await choose(user, field("Delivery"), "1 min")
    await user.click(screen.getByText("Text"))
    fireEvent.change(screen.getByLabelText("Body"), { target: { value: "it's" } })
    const message = { tag: "paid", properties: { source: "web" }, delay_ms: 60_000, body: { encoding: "text", data: "it's" } }
    expect(document.querySelector("pre")?.textContent).toContain(JSON.stringify({ messages: [message] }).replaceAll("'", "'\\''"))
    await user.click(button("Send to orders"))
    await waitFor(() => expect(requests(SEND)[0]?.body).toEqual({ messages: [message] }))
  })

  it("sends the time at which the message is delivered, and not without one", async () => {
    answer(SEND, { results: [], stored: 0, failed: 0 }, 201)
    const { user } = renderApp(<ProduceForm cluster="local" topic="orders" />, { at: "/?zone=UTC" })
    await choose(user, await findField("Delivery"), "At a time …")
    expect(button("Send to orders").disabled).toBe(true)
    fireEvent.change(field("Delivered at"), { target: { value: "2099-01-01 08:00:00" } })
    await user.click(button("Send to orders"))
    await waitFor(() => expect(requests(SEND)[0]?.body).toMatchObject({ messages: [{ deliver_at: "2099-01-01T08:00:00.000Z" }] }))
  })

  it.each([
    ["a body that is no JSON", "Body", "{", "This is not JSON"],
    ["a line that is no property", "Properties", "a=1\n=2", "Line 2 has no name=value"],
  ])("sends nothing with %s, and says so there", async (_what, label, text, words) => {
    renderApp(<ProduceForm cluster="local" topic="orders" />)
    await findField("Keys")
    fireEvent.change(field(label), { target: { value: text } })
    expect(screen.getByText(words)).toBeTruthy()
    expect(button("Send to orders").disabled).toBe(true)
    expect(errorOf(field("Keys"))).toBeUndefined()
  })

  it("is locked for those who may only read", async () => {
    renderApp(<ProduceForm cluster="local" topic="orders" />, { me: reader() })
    expect((await findField("Keys")).closest("fieldset")?.disabled).toBe(true)
    expect(button("Send to orders").disabled).toBe(true)
  })
})
