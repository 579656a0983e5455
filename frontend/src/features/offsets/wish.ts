import { isInstant } from "@/lib/time"
import type { UrlState } from "@/hooks/use-url-state"
import type { OffsetPlan, OffsetPreview, PlannedQueue } from "@/lib/api-types"

export const MODES = ["time", "earliest", "latest", "offset", "shift", "copy_from"] as const
export type Mode = (typeof MODES)[number]

/** The mode that the address names; by time where it names none. */
export const modeOf = (state: UrlState): Mode => MODES.find((mode) => mode === state.mode) ?? "time"

/** A whole number as it stands in the address; null for none. */
export function numberOf(text: string | undefined): number | null {
  const value = Number(text)
  return text !== undefined && text !== "" && Number.isSafeInteger(value) ? value : null
}

/** The request for a preview, or null while something is missing. */
export function wishOf(state: UrlState): OffsetPreview | null {
  const topic = state.topic
  if (!topic) return null
  const mode = modeOf(state)
  const number = numberOf(mode === "shift" ? state.shift : state.offset)
  switch (mode) {
    case "time":
      return state.at && isInstant(state.at) ? { topic, mode, time: state.at } : null
    case "offset":
      return number === null || number < 0 ? null : { topic, mode, offset: number }
    case "shift":
      return number === null || number === 0 ? null : { topic, mode, shift: number }
    case "copy_from":
      return state.source ? { topic, mode, from_group: state.source } : null
    default:
      return { topic, mode }
  }
}

export const placeOf = ({ broker, queue_id }: Pick<PlannedQueue, "broker" | "queue_id">): string => `${broker}/${queue_id}`

/** The queues that a plan moves. */
export const movesOf = (plan: OffsetPlan): PlannedQueue[] => plan.queues.filter(({ new: to, current }) => to !== null && to !== current)
