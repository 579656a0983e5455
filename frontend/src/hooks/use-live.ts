import { type QueryKey, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { live, type LiveEvent } from "@/lib/live"

const FLOWING_MS = 5_000
export const POLL_MS = 5_000
const APART_MS = 10_000

/** Watch a subject; true while its events arrive. */
export function useLiveEvents(subject: string | null, take: (event: LiveEvent) => void): boolean {
  const taker = useRef(take)
  useEffect(() => {
    taker.current = take
  })
  const [isFlowing, setFlowing] = useState(false)
  useEffect(() => {
    if (subject === null) return
    let last = 0
    const stop = live.subscribe(subject, (event) => {
      last = Date.now()
      setFlowing(true)
      taker.current(event)
    })
    const timer = window.setInterval(() => setFlowing(Date.now() - last < FLOWING_MS), 1_000)
    return () => {
      stop()
      window.clearInterval(timer)
      setFlowing(false)
    }
  }, [subject])
  return isFlowing
}

/**
 * Write the states of a subject into the query cache under `key`. The answer is the refetch interval of that query:
 * none while events arrive, polling when they do not.
 */
export function useLiveQuery(subject: string | null, key: QueryKey, pollMs = POLL_MS): number | false {
  const cache = useQueryClient()
  const isFlowing = useLiveEvents(subject, ({ data }) => cache.setQueryData(key, (known: unknown) => (isFromBefore(data, known) ? known : data)))
  return isFlowing ? false : pollMs
}

/**
 * Whether a state was read before what is known: the answer to a change is newer than a sample that was on its way.
 * Of clocks that are further apart, neither is believed.
 */
function isFromBefore(state: unknown, known: unknown): boolean {
  const lead = momentOf(known) - momentOf(state)
  return lead > 0 && lead < APART_MS
}

const momentOf = (state: unknown): number => Date.parse((state as { at?: string } | null | undefined)?.at ?? "")

/** The newest items of some rows of a list, by name; empty until the first event. */
export function useLiveRows<T extends { name: string }>(subject: string, names: readonly string[]): ReadonlyMap<string, T> {
  const [items, setItems] = useState<ReadonlyMap<string, T>>(new Map())
  const rows = JSON.stringify(names)
  useEffect(() => {
    if (rows === "[]") return
    return live.subscribe(subject, ({ data }) => setItems(byName((data as { items?: T[] }).items ?? [])), JSON.parse(rows) as string[])
  }, [subject, rows])
  return items
}

const byName = <T extends { name: string }>(items: T[]): ReadonlyMap<string, T> => new Map(items.map((item) => [item.name, item]))
