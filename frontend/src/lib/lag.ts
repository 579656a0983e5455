import type { GroupSummary } from "@/lib/api-types"

/** How much lag changes in a second, over five minutes; positive is worse. A difference of two rates would be noise. */
export const lagGrowth = (group: Pick<GroupSummary, "lag_per_second">): number | null => group.lag_per_second

/** Whether no broker delivers to a group because somebody paused it. */
export const isPaused = ({ delivery }: Pick<GroupSummary, "delivery">): boolean => delivery === "paused"

/** Whether a lag grows that should not: that of a paused group is expected to. */
export const isGrowing = (group: Pick<GroupSummary, "state" | "delivery">): boolean => group.state === "growing" && !isPaused(group)

/** What comes out of a cluster is what its brokers delivered; who reads only some groups sees what those consumed. */
export const outWord = ({ limited }: { limited?: boolean }) => (limited ? "overview.consumed" : "overview.out") as "overview.consumed" | "overview.out"

/** Whose age it is: the figure is of the process that was started last. */
export const upWord = ({ brokers }: { brokers: readonly unknown[] }) => (brokers.length > 1 ? "overview.upYoungest" : "overview.up")

/** The known part of a sum, with a plus when some parts are unknown: 184,220+. */
export const withUnknown = (text: string, unknownParts: number): string => (unknownParts > 0 ? `${text}+` : text)
