import type { GroupSummary } from "@/lib/api-types"

/** How much lag changes in a second, over five minutes; positive is worse. A difference of two rates would be noise. */
export const lagGrowth = (group: Pick<GroupSummary, "lag_per_second">): number | null => group.lag_per_second

/** The known part of a sum, with a plus when some parts are unknown: 184,220+. */
export const withUnknown = (text: string, unknownParts: number): string => (unknownParts > 0 ? `${text}+` : text)
