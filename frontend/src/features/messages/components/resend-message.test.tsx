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

it("calls an unknown end unknown", async () => {
  refuse(SEND, 504, "SEND_UNCERTAIN", "The broker did not answer in 3 s.")
  const { user, onClose } = open()
  await user.click(await screen.findByRole("button", { name: "Send a copy" }))
  expect(await screen.findByText("It is not known whether the copy was stored")).toBeTruthy()
  expect(onClose).not.toHaveBeenCalled()
})
