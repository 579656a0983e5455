/** Words that a schedule writes in place of a moment; each run fills them in. */
export const LAST_SUCCESS = "{{ last_success }}"
export const SCHEDULED_AT = "{{ scheduled_at }}"

export type BoundKind = "open" | "last_success" | "scheduled_at" | "before" | "fixed"

export const UNITS = ["m", "h", "d"] as const

/** How long before the time of a run. */
export interface Span {
  amount: number
  unit: (typeof UNITS)[number]
}

/** The longest span that the server takes, in each unit: 366 days. */
export const LONGEST = { m: 527_040, h: 8_784, d: 366 } as const
export const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

// NaN: the amount is still to be typed.
const BEFORE = /^\{\{ scheduled_at - (-?\d{1,15}|NaN)([mhd]) \}\}$/

/** The span that a bound counts back from its run; none for another kind of bound. */
export function spanOf(bound: string | undefined): Span | undefined {
  const [, amount, unit] = BEFORE.exec(bound ?? "") ?? []
  return amount ? { amount: Number(amount), unit: unit as Span["unit"] } : undefined
}

export const beforeRun = ({ amount, unit }: Span): string => `{{ scheduled_at - ${amount}${unit} }}`

/** A fixed moment that is still to be typed: without a word of its own it would be the open end. */
export const NO_MOMENT = "?"

const WORDS: Partial<Record<BoundKind, string>> = {
  fixed: NO_MOMENT,
  last_success: LAST_SUCCESS,
  scheduled_at: SCHEDULED_AT,
  before: beforeRun({ amount: 1, unit: "h" }),
}

/** What a bound of a range is: open, a word of schedules, or a moment that stays. */
export function kindOf(bound: string | undefined): BoundKind {
  if (!bound) return "open"
  if (spanOf(bound)) return "before"
  return bound === LAST_SUCCESS ? "last_success" : bound === SCHEDULED_AT ? "scheduled_at" : "fixed"
}

/** The bound to begin with when one of these kinds is chosen. */
export const boundOf = (kind: BoundKind): string | undefined => WORDS[kind]
