import type { TFunction } from "i18next"
import type { Job } from "@/lib/api-types"

type Named = Pick<Job, "type" | "name" | "request">

/** The name of a job in the language of the reader: one that nobody named carries what the API made of its request. */
export function jobNameOf(t: TFunction, { type, name: whole, request }: Named): string {
  // A dry run says so with a mark of its own.
  const name = whole.startsWith(DRY_RUN) ? whole.slice(DRY_RUN.length) : whole
  const { group, source, target, left, right, format } = request as Record<string, unknown>
  if (type === "redrive" && name === `Redrive dead letters of ${String(group)}`) return t("jobs.redriveName", { group: String(group) })
  if (type === "replay" && name === `Replay ${topicOf(source)} to ${topicOf(target)}`)
    return t("jobs.replayName", { source: topicOf(source), target: topicOf(target) })
  if (type === "reconcile" && name === `Reconcile ${topicOf(left)} with ${topicOf(right)}`)
    return t("jobs.reconcileName", { left: topicOf(left), right: topicOf(right) })
  if (type === "export" && name === `Export ${topicOf(source)} as ${String(format)}`)
    return t("jobs.exportName", { topic: topicOf(source), format: t(`exporting.formats.${format as "csv"}`) })
  return name
}

const DRY_RUN = "Dry run: "

const topicOf = (side: unknown): string => String((side as { topic?: unknown } | undefined)?.topic)
