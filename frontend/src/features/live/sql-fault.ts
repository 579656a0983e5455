import type { TFunction } from "i18next"
import type { Problem } from "./frames"

type ReasonKey = "ends" | "misplaced" | "character" | "quote" | "comment" | "isNull" | "numbers" | "bounds" | "inList" | "condition" | "kinds" | "range" | "depth"

/** The reasons for which an expression is refused, as the server says them (broker_core/sql92). */
const REASONS: readonly [ReasonKey, RegExp][] = [
  ["ends", /^the text ends: .+ is needed here$/],
  ["misplaced", /^'(?<what>.+)' does not belong here: .+$/],
  ["character", /^(?<what>.+) means nothing here$/],
  ["quote", /^a text that does not end: a quote is missing$/],
  ["comment", /^a comment that does not end: \*\/ is missing$/],
  ["isNull", /^NULL is compared by IS NULL$/],
  ["numbers", /^(?<what>.+) compares numbers$/],
  ["bounds", /^(?<what>BETWEEN .+) holds for nothing$/],
  ["inList", /^only a property can be IN a list$/],
  ["condition", /^true or false is needed here$/],
  ["kinds", /^(?<what>.+) cannot be compared with (?<other>.+)$/],
  ["range", /^(?<what>.+) is (?:more than \d+|0, or not within what a double holds; .+)$/],
  ["depth", /^(?:nested deeper than \d+|more than \d+ comparisons of comparisons|its conditions are nested too deeply)$/],
]
const REFUSED = /^This is no SQL92 filter: (?<reason>.+), at character (?<n>\d+)\.$/s
export const SQL_POINTER = "#/filter/sql"

/** What is wrong with the SQL of a filter, from which character on; null for a problem of anything else. */
export function sqlFaultIn(t: TFunction, problem: Problem | null): string | null {
  const detail = problem?.errors?.find(({ pointer }) => pointer === SQL_POINTER)?.detail
  if (detail === undefined) return null
  const { reason, n } = REFUSED.exec(detail)?.groups ?? {}
  return reason === undefined ? detail : t("tail.sqlFault", { n, reason: reasonIn(t, reason) })
}

function reasonIn(t: TFunction, reason: string): string {
  for (const [key, pattern] of REASONS) {
    const found = pattern.exec(reason)
    if (found) return t(`tail.sqlReasons.${key}`, { what: "", other: "", ...found.groups })
  }
  return reason
}
