import { leastRefreshMs } from "@/lib/preferences"
import { useNow } from "./use-now"

/** The age of data once it is older than allowed, else null. Data that never came has no age; slow refreshing allows more. */
export function useAge(updatedAt: number, allowedMs: number | undefined): number | null {
  const now = useNow(2_000)
  if (allowedMs === undefined || updatedAt === 0) return null
  const age = now - updatedAt
  const chosenMs = leastRefreshMs()
  return age > allowedMs + (chosenMs === Infinity ? 0 : chosenMs) ? age : null
}
