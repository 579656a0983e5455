import type { GroupSummary } from "@/lib/api-types"

/** How much lag changes in a second, as measured, else from the rates where both are known; positive is worse. */
export function lagGrowth(group: Pick<GroupSummary, "in_rate" | "out_rate" | "lag_per_second">): number | null {
  const byRates = group.in_rate === null || group.out_rate === null ? null : group.in_rate - group.out_rate
  return group.lag_per_second ?? byRates
}

/** The known part of a sum, with a plus when some parts are unknown: 184,220+. */
export const withUnknown = (text: string, unknownParts: number): string => (unknownParts > 0 ? `${text}+` : text)
