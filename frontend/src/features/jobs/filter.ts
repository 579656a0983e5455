import type { Job } from "@/lib/api-types"
import type { UrlState } from "@/hooks/use-url-state"
import type { JobsFilter } from "./api/get-jobs"

export const TYPES = ["replay", "reconcile", "redrive", "export"] as const satisfies Job["type"][]
export const STATES = ["queued", "running", "paused", "succeeded", "partial", "failed", "cancelled"] as const satisfies Job["state"][]

/** What is filtered by beside type and state. */
const MORE = ["group", "created_by", "schedule", "from", "to"] as const

export const filterOf = ({ type, state, topic, group, created_by, schedule, from, to }: UrlState): JobsFilter => ({
  type,
  state,
  topic,
  group,
  created_by,
  schedule,
  from,
  to,
})

export const NO_FILTER: UrlState = { type: undefined, state: undefined, topic: undefined, group: undefined, created_by: undefined, schedule: undefined, from: undefined, to: undefined }

export const isFiltered = (filter: JobsFilter): boolean => Object.values(filter).some((value) => value !== undefined)

/** How many filters are set that may be folded away. */
export const countOfMore = (filter: JobsFilter): number => MORE.filter((name) => filter[name] !== undefined).length

/** A list of words with one more, or one less; none is no list. */
export function toggled(words: string | undefined, word: string): string | undefined {
  const known = wordsIn(words)
  const others = known.filter((each) => each !== word)
  return (others.length === known.length ? [...known, word] : others).join(",") || undefined
}

export const wordsIn = (words: string | undefined): string[] => words?.split(",").filter(Boolean) ?? []
