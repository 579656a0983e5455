import { Button } from "@mantine/core"
import { Link, useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ProgressRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { Duration, Time } from "@/components/values/time"
import { usePhone } from "@/hooks/use-media"
import { useNow } from "@/hooks/use-now"
import type { Job } from "@/lib/api-types"
import { rate } from "@/lib/format"
import type { useJobs } from "../api/get-jobs"
import { jobNameOf } from "../job-name"
import { isActive, progressOf, tookMs } from "../progress"
import { JobDone } from "./job-done"
import { JobOutcome } from "./job-outcome"
import { JobRows } from "./job-rows"
import { NewJob } from "./new-job"

const column = columnsFor<Job>()

interface JobsTableProps {
  query: ReturnType<typeof useJobs>
  /** Whether the filter can be asked for. */
  isAsked: boolean
  /** Takes all filters back; given while there are any. */
  onClear: (() => void) | undefined
}

export function JobsTable({ query, isAsked, onClear }: JobsTableProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const isPhone = usePhone()
  const onEnd = query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined
  const rows = query.data?.pages.flatMap(({ items }) => items)
  const columns = useMemo(
    () => [
      column("name", t("jobs.name"), { isName: true }, (job) => (
        <Link to="/jobs/$job" params={{ job: job.id }}>
          {jobNameOf(t, job)}
        </Link>
      )),
      column("type", t("jobs.type"), { isSecondary: true, minWidth: 620 }, ({ type, dry_run: isDry }) => (
        <>
          {t(`jobs.types.${type}`)} {isDry && <Tag>{t("forecast.badge")}</Tag>}
        </>
      )),
      column("state", t("jobs.state"), {}, (job) => <JobOutcome job={job} />),
      column("rail", t("jobs.progress"), { width: 180, minWidth: 760 }, (job) =>
        job.state === "queued" ? <NotApplicable /> : <ProgressRail ratio={progressOf(job) ?? 0} />,
      ),
      column("done", t("jobs.done"), { align: "end", minWidth: 520 }, (job) => <JobDone job={job} />),
      column("rate", t("jobs.rate"), { align: "end", isSecondary: true, minWidth: 900 }, (job) =>
        job.rate === null || !isActive(job) ? <NotApplicable /> : `${rate(job.rate)}/s`,
      ),
      column("started", t("jobs.started"), { align: "end", isSecondary: true, minWidth: 680 }, (job) => (
        <Time at={job.created_at} />
      )),
      column("took", t("jobs.took"), { align: "end", isSecondary: true, minWidth: 980 }, (job) => <Took job={job} />),
      column("by", t("jobs.by"), { isSecondary: true, minWidth: 840 }, ({ created_by }) => created_by),
    ],
    [t],
  )
  return (
    <QueryPanel
      grow
      query={{ ...query, data: rows, refetch: query.refetch as never }}
      what={t("jobs.failed")}
      skeleton={isAsked ? undefined : <Empty title={t("messages.faults.moment")} />}
      isEmpty={(items) => items.length === 0}
      empty={
        onClear ? (
          <Empty title={t("jobs.noMatch")} next={t("jobPages.noMatchNext")} actions={<Button onClick={onClear}>{t("jobPages.showAll")}</Button>} />
        ) : (
          <Empty title={t("jobs.none")} next={t("jobs.noneNext")} actions={<NewJob />} />
        )
      }
    >
      {(items) =>
        isPhone ? (
          <JobRows jobs={items} onEnd={onEnd} />
        ) : (
          <DataTable
            label={t("nav.jobs")}
            columns={columns}
            rows={items}
            rowId={({ id }) => id}
            onRow={({ id }) => void navigate({ to: "/jobs/$job", params: { job: id } })}
            onEnd={onEnd}
          />
        )
      }
    </QueryPanel>
  )
}

function Took({ job }: { job: Job }) {
  const now = useNow()
  return <Duration ms={tookMs(job, now)} />
}
