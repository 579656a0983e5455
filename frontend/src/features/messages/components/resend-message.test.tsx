import { fireEvent, screen, waitFor } from "@testing-library/react"
import { expect, it, vi } from "vitest"
import type { WholeMessage } from "@/lib/api-types"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { ResendMessage } from "./resend-message"

const ID = "AC110001000077D2A44F61E8B2"
const SEND = `POST /api/v1/clusters/local/messages/${ID}:resend`
const TEXT = '{"n":1.10,"big":12345678901234567890123}'
const message = {
  message_id: ID, topic: "orders", keys: ["A17"], tag: "created", properties: {}, body: { encoding: "json", data: { n: 1.1 }, text: TEXT },
} as unknown as WholeMessage

const open = (onClose = vi.fn()) => ({ ...renderApp(<ResendMessage cluster="local" message={message} onClose={onClose} />), onClose })

it("sends a message as it is without repeating any of it", async () => {
  answer(SEND, { message_id: "B", topic: "orders", broker: "broker-a", queue_id: 2, offset: 1881, stored_at: "2026-11-21T06:00:00Z", flushed: true }, 201)
  const { user, onClose } = open()
  expect((await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Body" })).value).toBe(TEXT)
  await user.click(screen.getByRole("button", { name: "Send a copy" }))
  expect(await screen.findByText("A copy was stored in orders")).toBeTruthy()
  expect(requests(SEND)[0]?.body).toEqual({ topic: "orders" })
  expect(onClose).toHaveBeenCalled()
})

it("sends only what was changed, and the text of the body exactly as typed", async () => {
  answer(SEND, { message_id: "B", topic: "copies", broker: "broker-a", queue_id: 0, offset: 0, stored_at: "2026-11-21T06:00:00Z", flushed: true }, 201)
  const { user } = open()
  await user.type(await screen.findByLabelText("Topic of the copy"), "copies")
  await user.clear(screen.getByLabelText("Tag"))
  fireEvent.change(screen.getByRole("textbox", { name: "Body" }), { target: { value: '{"n":1.20}' } })
  await user.click(screen.getByRole("button", { name: "Send a copy" }))
  await waitFor(() => expect(requests(SEND)[0]?.body).toEqual({ topic: "orders", target_topic: "copies", tag: "", body: { encoding: "json", data: '{"n":1.20}' } }))
})

it("marks a topic that does not exist, and takes the failure away when the copy is sent after all", async () => {
  refuse(SEND, 404, "TOPIC_NOT_FOUND", "topic 'moon' does not exist")
  const { user } = open()
  const topic = await screen.findByLabelText("Topic of the copy")
  await user.type(topic, "moon")
  await user.click(screen.getByRole("button", { name: "Send a copy" }))
  expect(await screen.findByText("There is no topic moon.")).toBeTruthy()
  expect(screen.getByText("Topic 'moon' does not exist.")).toBeTruthy()
  answer(SEND, { message_id: "B", topic: "orders", broker: "broker-a", queue_id: 2, offset: 1881, stored_at: "2026-11-21T06:00:00Z", flushed: true }, 201)
  await user.clear(topic)
  expect(screen.queryByText("There is no topic moon.")).toBeNull()
  await waitFor(() => {
    fireEvent.submit(topic)
    expect(requests(SEND)).toHaveLength(2)
  })
  expect(await screen.findByText("A copy was stored in orders")).toBeTruthy()
  await waitFor(() => expect(screen.queryByText("The copy was not stored")).toBeNull())
})

it("says once what is wrong with a field", async () => {
  answer(SEND, { title: "Invalid", status: 422, code: "INVALID", detail: "body/data: is not JSON", request_id: "01JDX6R8K3ZC5W2N", errors: [{ pointer: "#/body/data", code: "INVALID", detail: "is not JSON" }] }, 422)
  const { user } = open()
  await user.click(await screen.findByRole("button", { name: "Send a copy" }))
  expect(await screen.findByText("The marked field says why.")).toBeTruthy()
  expect(screen.getAllByText(/is not JSON/)).toHaveLength(1)
})

it("calls an unknown end unknown", async () => {
  refuse(SEND, 504, "SEND_UNCERTAIN", "The broker did not answer in 3 s.")
  const { user, onClose } = open()
  await user.click(await screen.findByRole("button", { name: "Send a copy" }))
  expect(await screen.findByText("It is not known whether the copy was stored")).toBeTruthy()
  expect(onClose).not.toHaveBeenCalled()
})

it("says where the copy of a dead letter goes, and which groups will see it", async () => {
  answer("GET /api/v1/clusters/local/topics/orders/groups", { items: [{ name: "billing" }, { name: "dying" }] })
  answer(SEND, { message_id: "B", topic: "orders", broker: "broker-a", queue_id: 2, offset: 1881, stored_at: "2026-11-21T06:00:00Z", flushed: true }, 201)
  const dead = { ...message, topic: "%DLQ%dying", properties: { RETRY_TOPIC: "orders" } }
  renderApp(<ResendMessage cluster="local" message={dead} onClose={vi.fn()} />)
  expect((await screen.findByLabelText<HTMLInputElement>("Topic of the copy")).placeholder).toBe("orders")
  expect(await screen.findByText("The copy goes to orders. All groups that read it will see it: billing, dying.")).toBeTruthy()
})
