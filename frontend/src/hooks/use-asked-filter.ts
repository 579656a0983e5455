import { useState } from "react"
import { isInstant } from "@/lib/time"

interface Ranged {
  from?: string | undefined
  to?: string | undefined
}

/** What is wrong with the range of a filter: a bound that is no moment, or an end that is not after the start. */
export function rangeFault({ from, to }: Ranged): "moment" | "reversed" | null {
  if ([from, to].some((bound) => bound !== undefined && !isInstant(bound))) return "moment"
  return from && to && Date.parse(to) <= Date.parse(from) ? "reversed" : null
}

/** The filter that is asked for: while a time is half typed, the last one that was whole. Null if there was none yet. */
export function useAskedFilter<T extends Ranged>(filter: T): T | null {
  const isWhole = rangeFault(filter) === null
  const [last, setLast] = useState(isWhole ? filter : null)
  if (isWhole && JSON.stringify(last) !== JSON.stringify(filter)) setLast(filter)
  return isWhole ? filter : last
}
