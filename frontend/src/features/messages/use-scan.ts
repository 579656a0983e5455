import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import type { MessageSummary, Scanned, ScanEnd, ScanLine } from "@/lib/api-types"
import { Problem } from "@/lib/problem"
import { scanLines } from "./api/scan-messages"
import { conditionsOf, readFilter, scanBody } from "./filter-text"

export interface TopicScan {
  topic: string
  where: string
  from?: string | undefined
  to?: string | undefined
}

export const MOST_MATCHES = 500
export const MOST_READ = 1_000_000

interface Found {
  rows: MessageSummary[]
  scanned: Scanned | null
  end: ScanEnd | null
  error: unknown
  isRunning: boolean
  isStopped: boolean
}

export interface Scan extends Found {
  isAsked: boolean
  /** Ends it; what was found stays. */
  stop: () => void
  restart: () => void
  /** Goes on where a limit ended it. */
  goOn: (() => void) | undefined
}

const NOTHING: Found = { rows: [], scanned: null, end: null, error: null, isRunning: false, isStopped: false }

/** The request of a scan as text. */
export const scanRequest = ({ where, from, to }: TopicScan, rest: Record<string, unknown>): string =>
  scanBody(conditionsOf(readFilter(where)), { ...(from && { from }), ...(to && { to }), ...rest })

/** Reads a topic through a filter; matches and progress come while it reads. */
export function useScan(cluster: string, wanted: TopicScan | null): Scan {
  const [found, setFound] = useState(NOTHING)
  const [run, setRun] = useState<{ cursor: string | null; n: number }>({ cursor: null, n: 0 })
  const abort = useRef<AbortController | null>(null)
  const topic = wanted?.topic
  const body = useMemo(() => wanted && scanRequest(wanted, { limit: MOST_MATCHES, max_read: MOST_READ }), [wanted && JSON.stringify(wanted)]) // eslint-disable-line react-hooks/exhaustive-deps -- the object is made anew at each render
  const asked = useRef(body)
  useEffect(() => {
    if (body === null || topic === undefined) return
    const controller = new AbortController()
    abort.current = controller
    const cursor = asked.current === body ? run.cursor : null
    asked.current = body
    const text = cursor === null ? body : `${body.slice(0, -1)},"cursor":${JSON.stringify(cursor)}}`
    setFound((known) => ({ ...NOTHING, rows: cursor === null ? [] : known.rows, isRunning: true }))
    void read(scanLines(cluster, topic, text, controller.signal), controller.signal, setFound)
    return () => controller.abort()
  }, [cluster, topic, body, run])
  const stop = useCallback(() => {
    abort.current?.abort()
    setFound((known) => ({ ...known, isRunning: false, isStopped: true }))
  }, [])
  const start = (cursor: string | null) => setRun(({ n }) => ({ cursor, n: n + 1 }))
  const cursor = found.end?.next_cursor
  return { ...found, isAsked: wanted !== null, stop, restart: () => start(null), goOn: cursor && !found.isRunning ? () => start(cursor) : undefined }
}

async function read(lines: AsyncIterable<string>, signal: AbortSignal, set: (change: (known: Found) => Found) => void) {
  const change = (patch: (known: Found) => Partial<Found>) => {
    if (!signal.aborted) set((known) => ({ ...known, ...patch(known) }))
  }
  try {
    let waiting: MessageSummary[] = []
    for await (const text of lines) {
      const line = JSON.parse(text) as ScanLine
      if (line.type === "match") {
        waiting.push(line.message)
        continue
      }
      const matches = waiting
      waiting = []
      change(({ rows }) => ({ rows: [...rows, ...matches], ...told(line) }))
    }
    change(({ end, error }) => ({ isRunning: false, error: error ?? (end ? null : new Problem(0, { title: "The stream ended early", code: "STREAM_CUT" })) }))
  } catch (error) {
    change(() => ({ isRunning: false, error }))
  }
}

function told(line: Exclude<ScanLine, { type: "match" }>): Partial<Found> {
  if (line.type === "progress") return { scanned: line.scanned }
  if (line.type === "end") return { scanned: line.scanned, end: line, isRunning: false }
  return { error: new Problem(503, { detail: line.detail, code: line.code }), isRunning: false }
}
