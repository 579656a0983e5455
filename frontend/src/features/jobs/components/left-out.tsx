import type { TFunction } from "i18next"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { PhoneRows } from "@/components/data-table/phone-rows"
import { QueryPanel } from "@/components/states/query-panel"
import { usePhone } from "@/hooks/use-media"
import type { Job } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import { hasEnded } from "../progress"
import { leftOutIn, type LeftOutMessage } from "../report"
import { DifferencePlace } from "./difference-place"
import classes from "./jobs.module.css"
import { ReplayRefusedButton } from "./replay-refused"

const column = columnsFor<LeftOutMessage>()

const LISTED: ReadonlySet<Job["type"]> = new Set(["replay", "export"])

/** The messages that a replay or an export could not read, or that were refused, of a dry run that would be: where each is, and why. */
export function LeftOut({ job }: { job: Job }) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const counted = (job.counters.damaged ?? 0) + job.counters.failed
  const isReported = LISTED.has(job.type) && hasEnded(job) && job.files_removed_at === null
  const query = useJobReport(isReported && (counted > 0 || job.dry_run) ? job : undefined)
  // A dry run counts nothing as failed: it has sent nothing.
  const total = job.dry_run ? (query.data?.refused ?? 0) : counted
  const columns = useMemo(
    () => [
      column("kind", t("reconcile.kind"), {}, ({ kind }) => t(`jobs.counters.${kind}`)),
      column("place", t("jobPages.leftOut.place"), { isName: true }, (message) => <DifferencePlace place={message} topic={message.topic} />),
      column("why", t("reconcile.why"), { isSecondary: true }, ({ reason }) => <span className={classes.reason}>{reason}</span>),
    ],
    [t],
  )
  if (!isReported || total === 0) return null
  return (
    <QueryPanel query={query} title={t("jobPages.leftOut.title")} actions={<ReplayRefusedButton job={job} listed={query.data?.left_out_listed} />} note={noteOf(t, leftOutIn(query.data).length, total, query.data?.left_out_listed)} what={t("reconcile.failed")}>
      {(report) => {
        const rows = leftOutIn(report)
        if (!isPhone) return <DataTable natural label={t("jobPages.leftOut.title")} columns={columns} rows={rows} rowId={({ name }) => name} />
        return (
          <PhoneRows label={t("jobPages.leftOut.title")} rows={rows}>
            {(message) => (
              <>
                <DifferencePlace place={message} topic={message.topic} />
                <span>{t(`jobs.counters.${message.kind}`)}</span>
                <small>{message.reason}</small>
              </>
            )}
          </PhoneRows>
        )
      }}
    </QueryPanel>
  )
}

/** A report has the first hundred of each kind, and its file many more. */
function noteOf(t: TFunction, shown: number, total: number, listed: number | undefined): string {
  if (shown >= total) return count(total)
  if (listed === undefined) return `${count(shown)} / ${count(total)}`
  return t(`jobPages.leftOut.${listed < total ? "some" : "all"}`, { shown: count(shown), total: count(total), listed: count(listed) })
}
