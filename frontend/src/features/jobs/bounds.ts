/** Words that a schedule writes in place of a moment; each run fills them in. */
export const LAST_SUCCESS = "{{ last_success }}"
export const SCHEDULED_AT = "{{ scheduled_at }}"

export type BoundKind = "open" | "last_success" | "scheduled_at" | "fixed"

const WORDS: Partial<Record<BoundKind, string>> = { last_success: LAST_SUCCESS, scheduled_at: SCHEDULED_AT }

/** What a bound of a range is: open, a word of schedules, or a moment that stays. */
export function kindOf(bound: string | undefined): BoundKind {
  if (!bound) return "open"
  return bound === LAST_SUCCESS ? "last_success" : bound === SCHEDULED_AT ? "scheduled_at" : "fixed"
}

/** The bound to begin with when one of these kinds is chosen; a fixed moment is still to be typed. */
export const boundOf = (kind: BoundKind): string | undefined => WORDS[kind]
