import type { TFunction } from "i18next"
import type { ScheduledSummary } from "@/lib/api-types"

/** Words about a figure of the summary; first, where no narrow tile cuts it off, the brokers whose part nobody knows. */
export function without(t: TFunction, words: string, missing: ScheduledSummary["missing"]): string {
  if (missing.length === 0) return words
  const lacks = t("scheduled.without", { brokers: missing.map(({ broker }) => broker).join(t("list.comma")) })
  return words === "" ? lacks : `${lacks} · ${words}`
}

/** A count that may be more, marked so. */
export const atLeast = (count: string, missing: ScheduledSummary["missing"]): string => (missing.length > 0 ? `${count}+` : count)
