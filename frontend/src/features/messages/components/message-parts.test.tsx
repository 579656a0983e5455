import { fireEvent, screen, waitFor, within } from "@testing-library/react"
import { describe, expect, it, vi } from "vitest"
import type { MessageDelivery, MessageSummary, MissingBroker } from "@/lib/api-types"
import { message, messageSummary, page } from "@/testing/factories"
import { errorOf, field, findField } from "@/testing/fields"
import { renderApp } from "@/testing/render"
import { answer, refuse, requests } from "@/testing/server"
import { CustomRange } from "./custom-range"
import { MessageBody } from "./message-body"
import { MessageDeliveries } from "./message-deliveries"
import { MessageTimeline } from "./message-timeline"
import { TopicMessages } from "./topic-messages"

describe("a range of one's own", () => {
  const show = (zone: string, range: { from?: string; to?: string } = {}) => {
    const onChange = vi.fn<(patch: Record<string, string | undefined>) => void>()
    renderApp(<CustomRange from={range.from} to={range.to} onChange={onChange} />, { at: `/messages?zone=${encodeURIComponent(zone)}` })
    return onChange
  }
  const type = (label: string, text: string) => fireEvent.change(field(label), { target: { value: text } })

  it.each([
    ["Asia/Shanghai", "2026-11-21 14:10", "2026-11-21T06:10:00.000Z"],
    ["Europe/Berlin", "2026-03-29 03:30", "2026-03-29T01:30:00.000Z"],
    ["Europe/Berlin", "2026-03-28 03:30", "2026-03-28T02:30:00.000Z"],
    ["UTC", "2026-11-21 14:10:05.25", "2026-11-21T14:10:05.250Z"],
  ])("is typed as the clock of %s: %s", async (zone, text, instant) => {
    const onChange = show(zone)
    await findField("From")
    type("From", text)
    expect(onChange).toHaveBeenLastCalledWith({ from: instant })
  })

  it("is shown as that clock when it comes from a link", async () => {
    show("America/New_York", { from: "2026-07-01T12:00:00Z", to: "2026-12-01T12:00:00.007Z" })
    expect((await findField("From")).value).toBe("2026-07-01 08:00:00")
    expect(field("To").value).toBe("2026-12-01 07:00:00.007")
  })

  it.each(["yesterday", "2026-02-30", "2026-11-21 12:60"])("says at the field that %s is no time, and does not take it for an open end", async (text) => {
    const onChange = show("UTC")
    await findField("From")
    type("From", text)
    expect(errorOf(field("From"))).toMatch(/2026-11-21 14:10:00/)
    expect(onChange).toHaveBeenLastCalledWith({ from: text })
  })

  it("is open again when it is emptied", async () => {
    const onChange = show("UTC", { to: "2026-12-01T12:00:00Z" })
    await findField("To")
    type("To", "")
    expect(onChange).toHaveBeenLastCalledWith({ to: undefined })
    expect(errorOf(field("To"))).toBeUndefined()
  })

  it("shows what a link holds that is no time, and says so", async () => {
    show("UTC", { from: "not-a-time" })
    expect((await findField("From")).value).toBe("not-a-time")
    expect(errorOf(field("From"))).toMatch(/2026-11-21 14:10:00/)
  })
})

describe("who has consumed a message", () => {
  const LINE = "GET /api/v1/clusters/local/messages/AC11/deliveries"
  const delivery = (group: string, overrides: Partial<MessageDelivery>) => ({ group, state: "consumed", behind: null, ...overrides }) as MessageDelivery
  const rowOf = (group: string) => within(screen.getByText(group).parentElement as HTMLElement)

  it("is told group by group, with how many messages stand before it", async () => {
    answer(LINE, {
      items: [
        delivery("billing", { state: "consumed" }),
        delivery("shipping", { state: "not_reached", behind: 1_200 }),
        delivery("audit", { state: "unknown" }),
      ],
    })
    renderApp(<MessageDeliveries cluster="local" message={message("AC11")} />)
    await screen.findByText("billing")
    expect(rowOf("billing").getByText("Consumed")).toBeTruthy()
    expect(rowOf("shipping").getByText(/1,200/)).toBeTruthy()
    expect(rowOf("shipping").queryByText("Consumed")).toBeNull()
    expect(rowOf("audit").getByText("Unknown")).toBeTruthy()
  })

  it("leads to the group", async () => {
    answer(LINE, { items: [delivery("billing", {})] })
    const { user, address } = renderApp(<MessageDeliveries cluster="local" message={message("AC11")} />)
    await user.click(await screen.findByText("billing"))
    await waitFor(() => expect(address()).toBe("/groups/billing"))
  })

  it("is not told as nobody when it could not be read", async () => {
    refuse(LINE, 503, "BROKER_UNREACHABLE", "No broker answered.")
    renderApp(<MessageDeliveries cluster="local" message={message("AC11")} />)
    expect(await screen.findByText("503 BROKER_UNREACHABLE")).toBeTruthy()
  })
})

describe("the way of a message", () => {
  const show = (born_at: string, stored_at: string) => renderApp(<MessageTimeline message={message("AC11", { born_at, stored_at })} />, { at: "/?zone=Asia%2FShanghai" })

  it("is told in the zone of the reader, with the milliseconds between", async () => {
    show("2026-11-21T06:31:07.400Z", "2026-11-21T06:31:08.650Z")
    expect(await screen.findByText("14:31:07.400")).toBeTruthy()
    expect(screen.getByText("14:31:08.650")).toBeTruthy()
    expect(screen.getByText("+1,250 ms")).toBeTruthy()
    expect(screen.getByText("0 ms")).toBeTruthy()
  })

  it("has the length of a long wait in words", async () => {
    show("2026-11-21T06:10:30.432Z", "2026-11-21T06:11:55.698Z")
    expect(await screen.findByText("+1 min 25 s")).toBeTruthy()
  })

  it("may go backwards: the clock of the sender is not the broker's", async () => {
    show("2026-11-21T06:31:07.400Z", "2026-11-21T06:31:07.300Z")
    expect(await screen.findByText("−100 ms")).toBeTruthy()
  })
})

describe("a body that does not unpack", () => {
  it("is shown as stored, with the reason", async () => {
    const body = { encoding: "base64", data: "aGVsbG8=", text: null } as const
    renderApp(<MessageBody message={message("AC11", { body, damage: "compressor 4 is not defined" })} />)
    expect(await screen.findByText(/compressor 4 is not defined/)).toBeTruthy()
    expect(document.querySelector("pre")?.textContent).toContain("hello")
  })

  it("is marked in lists", async () => {
    const damaged = messageSummary("AC11", { damage: "compressor 4 is not defined" })
    answer("GET /api/v1/clusters/local/topics/orders/messages", { ...page([damaged, messageSummary("AC12", { queue_offset: 1 })]), missing: [] })
    renderApp(<TopicMessages cluster="local" topic="orders" />)
    expect(await screen.findAllByText("Damaged")).toHaveLength(1)
  })
})

describe("the newest messages of a topic", () => {
  const LINE = "GET /api/v1/clusters/local/topics/orders/messages"
  const newest = (items: MessageSummary[], missing: MissingBroker[] = []) => ({ ...page(items), missing })

  it("open in the search, beside the others of the topic", async () => {
    answer(LINE, newest([messageSummary("AC110001000077D2A44F61E8B2", { keys: ["A17"] })]))
    const { user, address } = renderApp(<TopicMessages cluster="local" topic="orders" />)
    await user.click(await screen.findByText("A17"))
    await waitFor(() => expect(address()).toBe("/messages?mode=time&topic=orders&span=all&open=AC110001000077D2A44F61E8B2"))
    expect(requests(LINE)[0]?.query.get("limit")).toBe("30")
  })

  it("that do not exist yet are sent by the command that is shown, and the token is no part of it", async () => {
    answer(LINE, newest([]))
    renderApp(<TopicMessages cluster="local" topic="orders" />)
    await waitFor(() => expect(document.querySelector("pre")?.textContent).toContain("topics/orders/messages"))
    const command = document.querySelector("pre")?.textContent ?? ""
    expect(command).toContain("--data-binary 'hello, harbour'")
    expect(command).toContain("$GANTRY_TOKEN")
  })

  it("are not called none while a broker was not asked", async () => {
    answer(LINE, newest([], [{ broker: "broker-b", reason: "broker-b is not listed by any name server", since: null }]))
    renderApp(<TopicMessages cluster="local" topic="orders" />)
    expect(await screen.findByText(/broker-b/)).toBeTruthy()
    expect(document.querySelector("pre")).toBeNull()
  })
})
