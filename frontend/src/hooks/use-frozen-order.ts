import type { QueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { createStore, useStore } from "@/lib/store"

/** How often somebody asked to read again. */
const refreshes = createStore(0)

/** Reads everything again, and lets what is held still move to its new place. */
export async function refreshAll(cache: QueryClient): Promise<void> {
  await cache.invalidateQueries()
  refreshes.set(refreshes.get() + 1)
}

interface Frozen {
  key: string
  names: string[]
}

/**
 * The rows in the order in which they were first seen under `key`, each once, however their values move; rows that come
 * later join at the end. Another key (another sort, another filter) and a refresh by hand take the order anew; null
 * means that these rows still belong to the key before.
 */
export function useFrozenOrder<T extends { name: string }>(rows: readonly T[] | undefined, key: string | null): T[] | undefined {
  const [frozen, setFrozen] = useState<Frozen>({ key: "", names: [] })
  const refreshed = useStore(refreshes)
  const turn = key === null ? frozen.key : `${key} ${refreshed}`
  if (!rows) return undefined
  const newest = new Map(rows.map((row) => [row.name, row]))
  const known = frozen.key === turn ? frozen.names : []
  const seen = new Set(known)
  const joined = [...newest.keys()].filter((name) => !seen.has(name))
  if (frozen.key !== turn || joined.length > 0) setFrozen({ key: turn, names: [...known, ...joined] })
  return [...known, ...joined].flatMap((name) => newest.get(name) ?? [])
}
