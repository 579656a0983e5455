import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { JobState } from "@/components/badges/job-state"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Columns, Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { useFormat } from "@/hooks/use-format"
import type { Job, JobRequest } from "@/lib/api-types"
import { shortId } from "@/lib/format"
import { useJobWorkers } from "../api/get-job-workers"
import { useJob } from "../api/get-job"
import { jobNameOf } from "../job-name"
import { hasEnded } from "../progress"
import { JobActions } from "./job-actions"
import { JobArtefacts, RemovedFiles, ReportDownloads } from "./job-artefacts"
import { JobCause } from "./job-cause"
import { JobCheckpoints } from "./job-checkpoints"
import { DryRunReport } from "./dry-run-report"
import { JobHero } from "./job-hero"
import { JobLogPanel } from "./job-log-panel"
import { JobPhases } from "./job-phases"
import { JobPlan } from "./job-plan"
import { JobRate } from "./job-rate"
import { LeftOut } from "./left-out"
import { ReconcileBadge, ReconcileReport, useDifferenceDrawer } from "./reconcile-report"
import { useRefusedDrawer } from "./replay-refused"
import { WorkersNotice } from "./workers-notice"

/** What other features know of a job. */
interface Slots {
  /** What became of each message of a redrive. */
  outcomes?: (job: Job) => ReactNode
  /** Says from which schedule it is. */
  schedule?: (id: string) => ReactNode
}

export function JobPage({ id, ...slots }: Slots & { id: string }) {
  const { t } = useTranslation()
  const query = useJob(id)
  const job = query.data
  if (!job)
    return (
      <Page title={shortId(id)}>
        <Panel>
          {query.error ? (
            <Failed what={t("jobs.oneFailed")} error={query.error} retry={() => void query.refetch()} />
          ) : (
            <SkeletonBlock height={240} />
          )}
        </Panel>
      </Page>
    )
  return <Whole job={job} {...slots} />
}

function Whole({ job, outcomes, schedule }: Slots & { job: Job }) {
  const { t } = useTranslation()
  const differences = useDifferenceDrawer(hasComparison(job) ? job : undefined)
  const refused = useRefusedDrawer(job)
  return (
    <DockedPage drawer={differences ?? refused}>
      <Page title={jobNameOf(t, job)} badge={<Badges job={job} />} facts={<Facts job={job} />} actions={<Actions job={job} />}>
        {SAYS_WHY.has(job.state) && !isFaulty(job) && <JobCause job={job} />}
        {isForecast(job) ? <DryRunReport job={job} /> : !isCompared(job) && <JobHero job={job} />}
        {job.state === "queued" && <NoWorker />}
        <RemovedFiles job={job} />
        {hasComparison(job) && <ReconcileReport job={job} />}
        <Columns
          sideWidth={440}
          main={
            <>
              <LeftOut job={job} />
              {outcomes?.(job)}
              {job.files_removed_at === null && !job.dry_run && <JobRate job={job} />}
              {job.type === "replay" && !job.dry_run && job.files_removed_at === null && <JobCheckpoints job={job} />}
              <JobArtefacts job={job} />
            </>
          }
          side={
            <>
              <JobPlan job={job} schedule={schedule} />
              <JobPhases job={job} />
              {job.files_removed_at === null && <JobLogPanel job={job} />}
            </>
          }
        />
      </Page>
    </DockedPage>
  )
}

/** A dry run that ended well speaks through what it found. */
const isForecast = ({ dry_run: isDry, state }: Job): boolean => isDry && state === "succeeded"

function Badges({ job }: { job: Job }) {
  const { t } = useTranslation()
  return (
    <>
      {isCompared(job) ? <ReconcileBadge job={job} /> : <JobState state={job.state} />}
      {job.dry_run && <Tag>{t("forecast.badge")}</Tag>}
    </>
  )
}

function Actions({ job }: { job: Job }) {
  return (
    <>
      {isCompared(job) && <ReportDownloads job={job} />}
      <JobActions job={job} />
    </>
  )
}

/** What keeps a job that waits from starting, if it is the workers. */
const NoWorker = () => <WorkersNotice workers={useJobWorkers().data} />

/** States that need a reason, that of a retry or a pause too; what went well speaks for itself. */
const SAYS_WHY: ReadonlySet<Job["state"]> = new Set(["queued", "paused", "failed", "partial", "cancelled"])

/** A comparison that ended well speaks through its tiles, and so does a check whatever it found. */
const isCompared = (job: Job): boolean => job.type === "reconcile" && (job.state === "succeeded" || isFaulty(job))

/** One that failed may have ended before there was anything to tell. */
const hasComparison = (job: Job): boolean =>
  job.type === "reconcile" && hasEnded(job) && job.files_removed_at === null && (isCompared(job) || job.artefacts.some(({ name }) => name === "report.json"))

const isFaulty = ({ request, state }: Job): boolean => (request as JobRequest).check === "store" && state === "partial"

function Facts({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      {t("jobs.oneFacts", {
        type: t(`jobs.types.${job.type}`),
        id: shortId(job.id),
        by: job.created_by,
        time: format.when(job.created_at),
      })}
    </>
  )
}
