import type { Counts, Dropped, Problem, TailFrame, TailMessage } from "./frames"

/** Rows that stay on the page; older ones leave at the bottom. */
export const MOST_ROWS = 500
/** Messages that wait while the page is paused; older ones become a row that says how many. */
export const MOST_WAITING = 10_000
const MOST_SECONDS = 120

export type Row = (TailMessage | Dropped) & { id: number }

/** What came by in one second; null where nothing is known, because the connection was lost. */
export interface Second {
  at: number
  stored: number
  matched: number
  dropped: number
}

export interface TailState {
  /** The newest first. */
  rows: Row[]
  waiting: Row[]
  pausedAt: string | null
  counts: Counts
  seconds: Second[]
  silent: Record<string, string>
  problem: Problem | null
  phase: "starting" | "live" | "catching_up"
  nextId: number
  /** The last offset of each queue: after a loss the server begins a little before it. */
  places: Record<string, number>
}

const NO_COUNTS: Counts = { stored: 0, read: 0, matched: 0, shown: 0, dropped: 0 }

export const emptyTail: TailState = {
  rows: [],
  waiting: [],
  pausedAt: null,
  counts: NO_COUNTS,
  seconds: [],
  silent: {},
  problem: null,
  phase: "starting",
  nextId: 1,
  places: {},
}

/** The state after frames, in their order. */
export function withFrames(state: TailState, frames: readonly TailFrame[]): TailState {
  const next = { ...state }
  const rows: Row[] = []
  for (const frame of frames) {
    if (frame.type === "message" ? isNew(next, frame) : frame.type === "dropped") rows.push({ ...frame, id: next.nextId++ } as Row)
    else if (frame.type !== "message" && frame.type !== "dropped") takeOther(next, frame)
  }
  rows.reverse()
  if (rows.length === 0) return next
  if (next.pausedAt === null) next.rows = [...rows, ...next.rows].slice(0, MOST_ROWS)
  else Object.assign(next, bounded([...rows, ...next.waiting], next.nextId))
  return next
}

/** Whether the message was not shown before; notes its place. */
function isNew(state: TailState, { topic, broker, queue_id, offset }: TailMessage): boolean {
  const place = `${topic} ${broker} ${queue_id}`
  if (state.phase !== "live" && offset <= (state.places[place] ?? -1)) return false
  state.places = { ...state.places, [place]: offset }
  return true
}

type Other = Exclude<TailFrame, TailMessage | Dropped>

function takeOther(state: TailState, frame: Other): void {
  if (frame.type === "phase") Object.assign(state, { phase: frame.phase, problem: null })
  if (frame.type === "error") state.problem = frame.problem
  if (frame.type === "unknown") {
    const place = frame.broker === null ? frame.topic : `${frame.topic} · ${frame.broker}`
    const others = Object.entries(state.silent).filter(([known]) => known !== place)
    state.silent = Object.fromEntries(frame.reason === null ? others : [...others, [place, frame.reason]])
  }
  if (frame.type === "progress") {
    const before = state.counts
    const second = { at: Date.parse(frame.at), stored: frame.stored - before.stored, matched: frame.matched - before.matched, dropped: frame.dropped - before.dropped }
    state.seconds = [...state.seconds, second].slice(-MOST_SECONDS)
    state.counts = { stored: frame.stored, read: frame.read, matched: frame.matched, shown: frame.shown, dropped: frame.dropped }
  }
}

/** Waiting rows up to the bound; those that are cut off become one row that counts them. */
function bounded(waiting: Row[], nextId: number): Pick<TailState, "waiting" | "nextId"> {
  if (waiting.length <= MOST_WAITING) return { waiting, nextId }
  const kept = waiting.slice(0, MOST_WAITING - 1)
  const cut = waiting.slice(MOST_WAITING - 1)
  const n = cut.reduce((sum, row) => sum + (row.type === "message" ? 1 : (row.n ?? 0)), 0)
  const gap: Row = { type: "dropped", reason: "waiting", n, from: momentOf(cut.at(-1), "from"), to: momentOf(cut[0], "to"), id: nextId }
  return { waiting: [...kept, gap], nextId: nextId + 1 }
}

const momentOf = (row: Row | undefined, end: "from" | "to"): string | null => (row?.type === "message" ? row.stored_at : (row?.[end] ?? null))

export const paused = (state: TailState, at: string): TailState => (state.pausedAt === null ? { ...state, pausedAt: at } : state)

/** Shows what has waited. */
export const continued = (state: TailState): TailState => ({
  ...state,
  rows: [...state.waiting, ...state.rows].slice(0, MOST_ROWS),
  waiting: [],
  pausedAt: null,
})

export const cleared = (state: TailState): TailState => ({ ...state, rows: [], waiting: [] })

/** After a loss the server counts from zero again; what came by meanwhile is fetched, or said to be unknown. */
export const reconnected = (state: TailState): TailState => ({ ...state, counts: NO_COUNTS, silent: {}, phase: "starting" })

/** How many messages wait, those that were dropped while waiting not counted. */
export const waitingCount = (state: TailState): number => state.waiting.filter(({ type }) => type === "message").length
