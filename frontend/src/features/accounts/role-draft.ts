import type { RoleRule } from "@/lib/api-types"

export type Verb = RoleRule["allow"][number]
export type Kind = RoleRule["kind"]
export type Effect = "allow" | "refuse" | "none"

export const KINDS: readonly Kind[] = ["topic", "group", "job", "schedule", "cluster"]
/** In the order of the columns. */
export const VERBS: readonly Verb[] = ["read", "bodies", "produce", "consume", "offsets", "redrive", "manage", "delete", "jobs", "admin"]

export const effectOf = (rule: RoleRule | undefined, verb: Verb): Effect =>
  rule?.allow.includes(verb) ? "allow" : rule?.refuse.includes(verb) ? "refuse" : "none"

const NEXT: Record<Effect, Effect> = { none: "allow", allow: "refuse", refuse: "none" }

/** The rule after one more click on a cell: nothing said, allowed, refused, and again. */
export function cycled(rule: RoleRule, verb: Verb): RoleRule {
  const effect = NEXT[effectOf(rule, verb)]
  const without = (verbs: readonly Verb[]) => verbs.filter((each) => each !== verb)
  return {
    ...rule,
    allow: effect === "allow" ? [...rule.allow, verb] : without(rule.allow),
    refuse: effect === "refuse" ? [...rule.refuse, verb] : without(rule.refuse),
  }
}

export interface Change {
  rule: RoleRule
  verb: Verb
  effect: Effect
}

const sameNames = (one: RoleRule | undefined, other: RoleRule): boolean => one?.kind === other.kind && one.pattern === other.pattern

/**
 * What saving would change, cell by cell. Rules are compared by their place, so new ones are added at the end; a rule
 * that is gone says nothing any more.
 */
export function changesOf(saved: readonly RoleRule[], draft: readonly (RoleRule | null)[]): Change[] {
  return draft.flatMap((rule, index) => {
    const before = saved[index]
    const shown = rule ?? before
    if (!shown) return []
    const old = rule && !sameNames(before, rule) ? undefined : before
    return VERBS.filter((verb) => effectOf(old, verb) !== effectOf(rule ?? undefined, verb)).map((verb) => ({
      rule: shown,
      verb,
      effect: effectOf(rule ?? undefined, verb),
    }))
  })
}
