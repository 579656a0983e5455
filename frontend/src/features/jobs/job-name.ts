import type { TFunction } from "i18next"
import type { Job, JobRequest } from "@/lib/api-types"
import { type Side, titleOfSide } from "./sides"

type Named = Pick<Job, "type" | "name" | "request"> & Partial<Pick<Job, "cluster">>

/** The name of a job in the language of the reader: one that nobody named carries what the API made of its request. */
export function jobNameOf(t: TFunction, { type, name: whole, request, cluster }: Named): string {
  // A dry run says so with a mark of its own.
  const name = whole.startsWith(DRY_RUN) ? whole.slice(DRY_RUN.length) : whole
  const { group, source, target, format } = request as Record<string, unknown>
  const { left, right } = request as Pick<JobRequest, "left" | "right">
  if (type === "redrive" && name === `Redrive dead letters of ${String(group)}`) return t("jobs.redriveName", { group: String(group) })
  if (type === "replay" && name === `Replay ${topicOf(source)} to ${topicOf(target)}`)
    return t(replayKindOf(source), { source: topicOf(source), target: topicOf(target) })
  if (type === "replay" && name === `Replay ${topicOf(source)} to Parquet`) return t("jobs.replayName", { source: topicOf(source), target: t("exporting.formats.parquet") })
  if (type === "reconcile" && name === `Reconcile ${titleInApi(left)} with ${titleInApi(right)}`)
    return t("jobs.reconcileName", { left: titleOfSide(left), right: titleOfSide(right) })
  if (type === "export" && name === `Export ${topicOf(source)} as ${String(format)}`)
    return t("jobs.exportName", { topic: topicOf(source), format: t(`exporting.formats.${format as "csv"}`) })
  if (type === "reconcile" && name === `Check the store of ${cluster ?? ""}`) return t("sides.checkName", { cluster })
  return name
}

const DRY_RUN = "Dry run: "

/** How the API calls a side where it names a job. */
const titleInApi = (side: Side | undefined): string => (side?.kind === "group" ? `${side.topic ?? ""} of ${side.group ?? ""}` : titleOfSide(side))

/** A replay of messages that another job named says so. */
function replayKindOf(source: unknown) {
  const { positions } = (source ?? {}) as { positions?: { file?: string } }
  if (!positions) return "jobs.replayName"
  return positions.file === "failures.jsonl" ? "jobPages.refusedName" : "jobPages.missingName"
}

const topicOf = (side: unknown): string => String((side as { topic?: unknown } | undefined)?.topic)
