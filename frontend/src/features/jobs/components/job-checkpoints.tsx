import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ProgressRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Num } from "@/components/values/num"
import { useFormat } from "@/hooks/use-format"
import type { Job, JobProgress } from "@/lib/api-types"
import { percent } from "@/lib/format"
import { useJobProgress } from "../api/get-job-progress"
import { isActive } from "../progress"

type Queue = JobProgress["queues"][number]

const column = columnsFor<Queue>()

/** Queue by queue how far a job is, and from where it would go on. */
export function JobCheckpoints({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const progress = useJobProgress(job)
  const saved = progress.data?.saved_at
  const columns = useMemo(
    () => [
      column("queue", t("topics.queue"), { align: "end", isStrong: true, width: 56 }, ({ queue_id }) => queue_id),
      column("broker", t("topics.broker"), { isSecondary: true, minWidth: 640 }, ({ broker }) => broker),
      column("rail", t("jobs.range"), { width: 220, minWidth: 480 }, (queue) => <ProgressRail ratio={shareOf(queue)} />),
      column("done", t("jobs.done"), { align: "end" }, (queue) => percent(shareOf(queue))),
      column("from", t("jobs.fromOffset"), { align: "end", isSecondary: true, minWidth: 760 }, ({ from }) => <Num value={from} />),
      column("checkpoint", t("jobs.checkpoint"), { align: "end" }, ({ next }) => <Num value={next} />),
      column("to", t("jobs.toOffset"), { align: "end", isSecondary: true, minWidth: 560 }, ({ to }) => <Num value={to} />),
      column("written", t("jobs.counters.written"), { align: "end", isStrong: true }, ({ written }) => <Num value={written} />),
    ],
    [t],
  )
  return (
    <QueryPanel
      query={progress}
      title={t("jobs.checkpoints")}
      note={saved ? t("jobs.checkpointsSaved", { time: format.when(saved) }) : t("jobs.checkpointsNote")}
      what={t("jobs.checkpointsFailed")}
      isEmpty={({ queues }) => queues.length === 0}
      empty={<Empty small title={t("jobs.noQueues")} next={isActive(job) ? t("jobs.noQueuesNext") : undefined} />}
    >
      {({ queues }) => <DataTable natural label={t("jobs.checkpoints")} columns={columns} rows={queues} rowId={({ broker, queue_id }) => `${broker} ${queue_id}`} />}
    </QueryPanel>
  )
}

const shareOf = ({ from, to, next }: Queue): number => (to <= from ? 1 : Math.min(1, Math.max(0, (next - from) / (to - from))))
