import { onlyCause, type Picked } from "../picks"

/** The query for the dead letters of the one picked cause; for all of the group if there is not just one. */
export function causeQuery(picked: Picked | undefined): Record<string, string> {
  const cause = onlyCause(picked)
  if (cause === undefined) return {}
  return cause === null ? { without_cause: "true" } : { cause }
}
