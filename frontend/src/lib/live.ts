import { env } from "@/config/env"
import { leastRefreshMs } from "@/lib/preferences"
import { createStore } from "@/lib/store"

/** One event of the live channel: the whole state of its subject, numbered. */
export interface LiveEvent {
  type: "state"
  subject: string
  seq: number
  at: string
  data: unknown
}

interface Item {
  name: string
  measured_at?: string | null
}

interface ListState {
  items: Item[]
}

/** What changed of a list since the event before it; `null` in `measured` is every measured item that is named nowhere else. */
interface Delta {
  changed: Item[]
  removed: string[]
  measured: [moment: string | null, names: string[] | null][]
}

/** What an activity tells one after the other, the oldest first; `gaps` are the numbers before which some were lost. */
export interface ActivityState {
  items: { seq: number }[]
  complete: boolean
  gaps?: number[]
}

/** What is new of an activity since the frame numbered `after`. */
type NewsEvent = Omit<LiveEvent, "type" | "data"> & { type: "events"; after: number; data: ActivityState }
type DeltaEvent = Omit<LiveEvent, "type" | "data"> & { type: "delta"; data: Delta }
type Frame = LiveEvent | DeltaEvent | NewsEvent | { type: "hello" } | { type: "denied"; subject: string }
type Listener = (event: LiveEvent) => void
/** The rows of a list that somebody shows; null is all of them. */
type Rows = readonly string[] | null

export interface LiveStatus {
  state: "connecting" | "open" | "lost"
  since: number
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 15_000
const CLOSED_BY_AUTH = 4401
const MOST_ROWS = 500
const MOST_EVENTS = 1_000

const isActivity = (subject: string) => subject.startsWith("activity:")

/** The activity with what is new at its end. */
export function applyNews(state: ActivityState, { items, complete }: ActivityState): ActivityState {
  const next = [...state.items, ...items].slice(-MOST_EVENTS)
  const oldest = next[0]?.seq ?? 0
  const first = items[0]
  const gaps = [...(state.gaps ?? []), ...(complete || first === undefined ? [] : [first.seq])].filter((seq) => seq > oldest)
  return { items: next, complete: state.complete && complete, gaps }
}

/** The list that a delta makes of the one before it; what did not change stays the same object. */
export function applyDelta(state: ListState, delta: Delta): ListState {
  const { changed, removed, measured, ...rest } = delta
  const next = new Map(state.items.map((item) => [item.name, item]))
  for (const name of removed) next.delete(name)
  const moments = new Map(measured.flatMap(([moment, names]) => (names ?? []).map((name) => [name, moment] as const)))
  const usual = measured.find(([, names]) => names === null)
  for (const [name, item] of next) {
    const moment = moments.has(name) ? moments.get(name) : usual?.[0]
    // What was never measured is not measured by the others either.
    if (moment !== undefined && item.measured_at != null && moment !== item.measured_at) next.set(name, { ...item, measured_at: moment })
  }
  for (const item of changed) next.set(item.name, item)
  return { ...rest, items: [...next.values()] }
}

/**
 * One socket for the tab. Subjects are counted, so that the first watcher subscribes and the last one leaves; after a
 * loss all wanted subjects are asked for again, and since the first event is a whole state nothing has to be replayed.
 * Of lists the next ones tell what changed; listeners always get the whole. Where one is missing the subject is asked
 * for again.
 */
export class LiveConnection {
  readonly status = createStore<LiveStatus>({ state: "lost", since: Date.now() })
  private readonly listeners = new Map<string, Map<Listener, Rows>>()
  private readonly asked = new Map<string, string>()
  private readonly last = new Map<string, LiveEvent>()
  private readonly told = new Map<string, number>()
  private readonly held = new Map<string, number>()
  private socket: WebSocket | null = null
  private delayMs = FIRST_DELAY_MS
  private timer: number | undefined
  private flushing = false
  private readonly url: string

  private readonly leastMs: () => number

  /** Of one subject, two events are told at least `leastMs()` apart: the newest of those that came in between. */
  constructor(url: string, leastMs: () => number = () => 0) {
    this.url = url
    this.leastMs = leastMs
  }

  /** Watch `subject`, of a list only `rows`; the answer stops watching. The first watcher opens the socket. */
  subscribe(subject: string, listener: Listener, rows: Rows = null): () => void {
    const set = this.listeners.get(subject) ?? new Map<Listener, Rows>()
    this.listeners.set(subject, set.set(listener, rows))
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
      // An activity goes on after the last event that was seen; everything else begins with its whole state.
      for (const subject of [...this.last.keys()]) if (!isActivity(subject)) this.last.delete(subject)
      this.note("open")
      this.flush()
      return
    }
    if (frame.type === "denied" || !this.asked.has(frame.subject)) return
    const last = this.last.get(frame.subject)
    // A state with the same number is that of other rows.
    if (last && (frame.type === "state" ? frame.seq < last.seq : frame.seq <= last.seq)) return
    const event = frame.type === "delta" ? this.whole(frame, last) : frame.type === "events" ? this.longer(frame, last) : frame
    if (!event) return
    this.last.set(frame.subject, event)
    this.tellInTime(frame.subject)
  }

  private tellInTime(subject: string): void {
    const agoMs = Date.now() - (this.told.get(subject) ?? -Infinity)
    const waitMs = this.leastMs() - agoMs
    // A clock that was set back must not hold anything for longer.
    if (waitMs <= 0 || agoMs < 0) return this.tell(subject)
    if (waitMs === Infinity || this.held.has(subject)) return
    this.held.set(
      subject,
      window.setTimeout(() => this.tell(subject), waitMs),
    )
  }

  private tell(subject: string): void {
    window.clearTimeout(this.held.get(subject))
    this.held.delete(subject)
    const event = this.last.get(subject)
    if (!event) return
    this.told.set(subject, Date.now())
    for (const listener of this.listeners.get(subject)?.keys() ?? []) listener(event)
  }

  /** Tell what was held back, since the time between two events is another one now. */
  release(): void {
    for (const subject of this.last.keys()) this.tell(subject)
  }

  /** The state after a delta; null where the one before it is not here, and then it is asked for. */
  private whole(frame: DeltaEvent, last: LiveEvent | undefined): LiveEvent | null {
    if (last?.seq === frame.seq - 1) {
      return { ...frame, type: "state", data: applyDelta(last.data as ListState, frame.data) }
    }
    // Without a last event a state is on its way already.
    if (last) this.askAgain(frame.subject)
    return null
  }

  /** The activity after what is new; null where what came before is not here, and then all is asked for. */
  private longer(frame: NewsEvent, last: LiveEvent | undefined): LiveEvent | null {
    if (last?.seq === frame.after) {
      return { ...frame, type: "state", data: applyNews(last.data as ActivityState, frame.data) }
    }
    if (last) this.askAgain(frame.subject)
    return null
  }

  private askAgain(subject: string): void {
    this.last.delete(subject)
    this.send("unsubscribe", [subject])
    this.subscribeTo([subject])
  }

  /** The rows that the listeners of a subject show together; null if one of them shows all. */
  private rowsOf(subject: string): Rows {
    const wanted = [...(this.listeners.get(subject)?.values() ?? [])]
    const rows = new Set(wanted.flatMap((each) => each ?? []))
    return wanted.includes(null) ? null : [...rows].sort().slice(0, MOST_ROWS)
  }

  private subscribeTo(subjects: string[]): void {
    const chosen = subjects.flatMap((subject) => {
      const rows = this.rowsOf(subject)
      return rows === null ? [] : [[subject, rows] as const]
    })
    const seen = subjects.flatMap((subject) => {
      const last = isActivity(subject) ? this.last.get(subject) : undefined
      return last ? [[subject, last.seq] as const] : []
    })
    this.send("subscribe", subjects, objectOf(chosen), objectOf(seen))
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
    const keys = new Map([...this.listeners.keys()].map((subject) => [subject, JSON.stringify(this.rowsOf(subject))]))
    const wanted = [...keys.keys()].filter((subject) => this.asked.get(subject) !== keys.get(subject))
    const left = [...this.asked.keys()].filter((subject) => !this.listeners.has(subject))
    this.subscribeTo(wanted)
    this.send("unsubscribe", left)
    for (const subject of wanted) {
      // The state of the rows that are wanted now is on its way.
      if (!isActivity(subject)) this.last.delete(subject)
      this.asked.set(subject, keys.get(subject) ?? "null")
    }
    for (const subject of left) {
      this.asked.delete(subject)
      this.last.delete(subject)
      this.told.delete(subject)
    }
  }

  private send(type: "subscribe" | "unsubscribe", subjects: string[], rows?: object, after?: object): void {
    if (subjects.length > 0) this.socket?.send(JSON.stringify({ type, subjects, rows, after }))
  }

  private note(state: LiveStatus["state"]): void {
    if (this.status.get().state !== state) this.status.set({ state, since: Date.now() })
  }
}

const objectOf = <T>(entries: (readonly [string, T])[]) => (entries.length > 0 ? Object.fromEntries(entries) : undefined)

export const live = new LiveConnection(env.liveUrl, leastRefreshMs)
