import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Panel } from "@/components/layout/panel"
import { ProgressRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { Num } from "@/components/values/num"
import type { Job } from "@/lib/api-types"
import { percent } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import { isActive } from "../progress"
import type { QueueReport } from "../report"

const column = columnsFor<QueueReport>()

/** Queue by queue how far the replay is. */
export function ReplayQueues({ job }: { job: Job }) {
  const { t } = useTranslation()
  const queues = useJobReport(job).data?.queues ?? []
  const columns = useMemo(
    () => [
      column("queue", t("topics.queue"), { align: "end", isStrong: true, width: 56 }, ({ queue_id }) => queue_id),
      column("broker", t("topics.broker"), { isSecondary: true, minWidth: 640 }, ({ broker }) => broker),
      column("rail", t("jobs.range"), { width: 220, minWidth: 480 }, (queue) => <ProgressRail ratio={shareOf(queue)} />),
      column("done", t("jobs.done"), { align: "end" }, (queue) => percent(shareOf(queue) ?? 0)),
      column("from", t("jobs.fromOffset"), { align: "end", isSecondary: true, minWidth: 560 }, ({ from }) => <Num value={from} />),
      column("to", t("jobs.toOffset"), { align: "end", isSecondary: true, minWidth: 560 }, ({ to }) => <Num value={to} />),
      column("written", t("jobs.counters.written"), { align: "end", isStrong: true }, ({ written }) => <Num value={written} />),
    ],
    [t],
  )
  return (
    <Panel title={t("jobs.perQueue")} note={t("jobs.perQueueNote")}>
      {queues.length === 0 ? (
        <Empty small title={t("jobs.noQueues")} next={isActive(job) ? t("jobs.noQueuesNext") : undefined} />
      ) : (
        <DataTable natural label={t("jobs.perQueue")} columns={columns} rows={queues} rowId={({ broker, queue_id }) => `${broker} ${queue_id}`} />
      )}
    </Panel>
  )
}

function shareOf({ from, to, read, written }: QueueReport): number | null {
  if (to <= from) return 1
  return Math.min(1, (read ?? written ?? 0) / (to - from))
}
