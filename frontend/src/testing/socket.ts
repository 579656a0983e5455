import { vi } from "vitest"
import type { LiveEvent } from "@/lib/live"

/** A socket of which the test is the other end. */
export class FakeSocket {
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static all: FakeSocket[] = []
  readyState = FakeSocket.OPEN
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: ((event: { code: number }) => void) | null = null
  readonly sent: { type: string; subjects: string[] }[] = []

  constructor(readonly url: string) {
    FakeSocket.all.push(this)
  }

  static get last(): FakeSocket {
    const socket = FakeSocket.all.at(-1)
    if (!socket) throw new Error("no socket was opened")
    return socket
  }

  send(text: string): void {
    if (this.readyState !== FakeSocket.OPEN) throw new Error("WebSocket is already in CLOSING or CLOSED state.")
    this.sent.push(JSON.parse(text) as { type: string; subjects: string[] })
  }

  close(): void {
    // The page left.
  }

  greet(): void {
    this.push({ type: "hello", session: "s", heartbeat_ms: 15_000 })
  }

  state(subject: string, seq: number, data: unknown): void {
    const event: LiveEvent = { type: "state", subject, seq, at: "2026-11-21T06:31:07.412Z", data }
    this.push(event)
  }

  delta(subject: string, seq: number, data: object): void {
    this.push({ type: "delta", subject, seq, at: "2026-11-21T06:31:08.412Z", data: { removed: [], measured: [], ...data } })
  }

  news(subject: string, after: number, items: { seq: number }[], complete = true): void {
    const seq = items.at(-1)?.seq ?? after
    this.push({ type: "events", subject, seq, after, at: "2026-11-21T06:31:08.412Z", data: { items, complete } })
  }

  deny(subject: string): void {
    this.push({ type: "denied", subject })
  }

  /** The other end has begun to close; `drop` is the end of it. */
  closing(): void {
    this.readyState = FakeSocket.CLOSING
  }

  drop(code = 1006): void {
    this.onclose?.({ code })
  }

  get subscribed(): string[] {
    return this.sent.filter(({ type }) => type === "subscribe").flatMap(({ subjects }) => subjects)
  }

  private push(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
}

vi.stubGlobal("WebSocket", FakeSocket)
