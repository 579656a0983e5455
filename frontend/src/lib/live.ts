import { env } from "@/config/env"
import { createStore } from "@/lib/store"

/** One event of the live channel: the whole state of its subject, numbered. */
export interface LiveEvent {
  type: "state"
  subject: string
  seq: number
  at: string
  data: unknown
}

type Frame = LiveEvent | { type: "hello" } | { type: "denied"; subject: string }
type Listener = (event: LiveEvent) => void

export interface LiveStatus {
  state: "connecting" | "open" | "lost"
  since: number
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 15_000
const CLOSED_BY_AUTH = 4401

/**
 * One socket for the tab. Subjects are counted, so that the first watcher subscribes and the last one leaves; after a
 * loss all wanted subjects are asked for again, and since every event is a whole state nothing has to be replayed.
 */
export class LiveConnection {
  readonly status = createStore<LiveStatus>({ state: "lost", since: Date.now() })
  private readonly listeners = new Map<string, Set<Listener>>()
  private readonly asked = new Set<string>()
  private readonly numbers = new Map<string, number>()
  private socket: WebSocket | null = null
  private delayMs = FIRST_DELAY_MS
  private timer: number | undefined
  private flushing = false
  private readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /** Watch `subject`; the answer stops watching. The first watcher opens the socket. */
  subscribe(subject: string, listener: Listener): () => void {
    const set = this.listeners.get(subject) ?? new Set()
    this.listeners.set(subject, set.add(listener))
    this.flushSoon()
    if (!this.socket && this.timer === undefined) this.connect()
    return () => {
      set.delete(listener)
      if (set.size === 0) this.listeners.delete(subject)
      this.flushSoon()
    }
  }

  /** Try at once instead of waiting for the next turn. */
  reconnect(): void {
    window.clearTimeout(this.timer)
    this.timer = undefined
    if (!this.socket) this.connect()
  }

  close(): void {
    window.clearTimeout(this.timer)
    this.timer = undefined
    const socket = this.socket
    this.socket = null
    socket?.close()
    this.note("lost")
  }

  private connect(): void {
    const socket = new WebSocket(this.url)
    this.socket = socket
    if (this.status.get().state !== "lost") this.note("connecting")
    socket.onmessage = (message) => {
      if (this.socket === socket) this.take(JSON.parse(String(message.data)) as Frame)
    }
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event.code)
    }
  }

  private take(frame: Frame): void {
    if (frame.type === "hello") {
      this.delayMs = FIRST_DELAY_MS
      this.asked.clear()
      this.numbers.clear()
      this.note("open")
      this.flush()
      return
    }
    if (frame.type !== "state" || frame.seq <= (this.numbers.get(frame.subject) ?? -1)) return
    this.numbers.set(frame.subject, frame.seq)
    for (const listener of this.listeners.get(frame.subject) ?? []) listener(frame)
  }

  private lost(code: number): void {
    this.socket = null
    this.note("lost")
    if (code === CLOSED_BY_AUTH) return
    const wait = this.delayMs * (0.7 + Math.random() * 0.6)
    this.delayMs = Math.min(this.delayMs * 2, LONGEST_DELAY_MS)
    this.timer = window.setTimeout(() => {
      this.timer = undefined
      this.connect()
    }, wait)
  }

  private flushSoon(): void {
    if (this.flushing) return
    this.flushing = true
    queueMicrotask(() => {
      this.flushing = false
      this.flush()
    })
  }

  private flush(): void {
    if (this.status.get().state !== "open" || !this.socket) return
    // While it closes nothing can be said any more; what is wanted by then is asked for on the next socket.
    if (this.socket.readyState !== WebSocket.OPEN) return
    const wanted = [...this.listeners.keys()].filter((subject) => !this.asked.has(subject))
    const left = [...this.asked].filter((subject) => !this.listeners.has(subject))
    this.send("subscribe", wanted)
    this.send("unsubscribe", left)
    for (const subject of wanted) this.asked.add(subject)
    for (const subject of left) {
      this.asked.delete(subject)
      this.numbers.delete(subject)
    }
  }

  private send(type: "subscribe" | "unsubscribe", subjects: string[]): void {
    if (subjects.length > 0) this.socket?.send(JSON.stringify({ type, subjects }))
  }

  private note(state: LiveStatus["state"]): void {
    if (this.status.get().state !== state) this.status.set({ state, since: Date.now() })
  }
}

export const live = new LiveConnection(env.liveUrl)
