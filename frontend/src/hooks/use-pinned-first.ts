import { useMemo } from "react"
import { type Store, useStore } from "@/lib/store"

/** The rows with the pinned ones first, each part in its order, and how many these are. */
export function usePinnedFirst<R extends { name: string }>(rows: readonly R[], pins: Store<string[]>) {
  const pinned = useStore(pins)
  return useMemo(() => {
    const first = rows.filter(({ name }) => pinned.includes(name))
    const others = rows.filter(({ name }) => !pinned.includes(name))
    return { ordered: [...first, ...others], pinnedCount: first.length }
  }, [rows, pinned])
}
