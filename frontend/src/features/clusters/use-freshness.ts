import { useState } from "react"
import { useNow } from "@/hooks/use-now"
import { leastRefreshMs } from "@/lib/preferences"

const ALLOWED_MS = 15_000

/**
 * The age in ms of figures that ceased to come, else null. It is measured by when `at` last moved here, so that a wall
 * with a wrong clock is not wrong about it; only of figures that never moved does `at` itself tell the age.
 */
export function useStaleAge(at: string | undefined): number | null {
  const now = useNow()
  const [seen, setSeen] = useState({ at, since: now, hasMoved: false })
  if (seen.at !== at) setSeen({ at, since: now, hasMoved: seen.at !== undefined })
  if (at === undefined) return null
  const waited = now - seen.since
  const chosen = leastRefreshMs()
  if (waited <= ALLOWED_MS + (chosen === Infinity ? 0 : chosen)) return null
  return seen.hasMoved ? waited : Math.max(waited, now - Date.parse(at))
}
