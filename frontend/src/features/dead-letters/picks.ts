import type { DeadLetterCause } from "@/lib/api-types"

/** What is picked of a group: all its dead letters, or those of some causes; null stands for none given. */
export type Picked = "all" | (string | null)[]
export type Picks = Record<string, Picked>

/** The picks of an address; what cannot be read picks nothing. */
export function picksOf(text: string | undefined): Picks {
  try {
    const found: unknown = JSON.parse(text ?? "{}")
    if (typeof found !== "object" || found === null) return {}
    return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, Picked] => isPicked(entry[1])))
  } catch {
    return {}
  }
}

const isPicked = (value: unknown): value is Picked =>
  value === "all" || (Array.isArray(value) && value.length > 0 && value.every((cause) => cause === null || typeof cause === "string"))

export const textOf = (picks: Picks): string | undefined => (Object.keys(picks).length > 0 ? JSON.stringify(picks) : undefined)

export const isCausePicked = (picked: Picked | undefined, cause: string | null): boolean => picked === "all" || (picked?.includes(cause) ?? false)

const without = (picks: Picks, group: string): Picks => Object.fromEntries(Object.entries(picks).filter(([name]) => name !== group))

/** The picks with a whole group, or without it. */
export function withGroup(picks: Picks, group: string, isOn: boolean): Picks {
  const others = without(picks, group)
  return isOn ? { ...others, [group]: "all" } : others
}

/** The picks with a cause of a group, or without it; without one of all, the others that are known stay. */
export function withCause(picks: Picks, group: string, cause: string | null, known: readonly DeadLetterCause[]): Picks {
  const picked = picks[group]
  const reasons = known.map(({ reason }) => reason)
  const before = picked === "all" ? reasons : (picked ?? [])
  const next = before.includes(cause) ? before.filter((each) => each !== cause) : [...before, cause]
  const others = without(picks, group)
  return next.length > 0 ? { ...others, [group]: next } : others
}

/** The cause, if just one is picked. */
export const onlyCause = (picked: Picked | undefined): string | null | undefined => (picked !== undefined && picked !== "all" && picked.length === 1 ? picked[0] : undefined)
