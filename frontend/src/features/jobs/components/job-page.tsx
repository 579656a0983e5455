import { Button } from "@mantine/core"
import { IconRefresh, IconX } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { JobState } from "@/components/badges/job-state"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { Columns, Page } from "@/components/layout/page"
import { Callout, Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { count, shortId } from "@/lib/format"
import { useCancelJob } from "../api/cancel-job"
import { useRetryJob } from "../api/retry-job"
import { useJob } from "../api/get-job"
import { jobNameOf } from "../job-name"
import { isActive } from "../progress"
import { JobArtefacts } from "./job-artefacts"
import { JobCheckpoints } from "./job-checkpoints"
import { JobHero } from "./job-hero"
import { JobLogPanel } from "./job-log-panel"
import { JobPlan } from "./job-plan"
import { JobRate } from "./job-rate"
import { ReconcileBadge, ReconcileReport, useDifferenceDrawer } from "./reconcile-report"

export function JobPage({ id }: { id: string }) {
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
  return <Whole job={job} />
}

function Whole({ job }: { job: Job }) {
  const { t } = useTranslation()
  return (
    <DockedPage drawer={useDifferenceDrawer(job)}>
      <Page title={jobNameOf(t, job)} badge={isCompared(job) ? <ReconcileBadge job={job} /> : <JobState state={job.state} />} facts={<Facts job={job} />} actions={<Actions job={job} />}>
        {!isCompared(job) && <JobHero job={job} />}
        {job.state_reason && SAYS_WHY.has(job.state) && <Callout tone={job.state === "failed" ? "crit" : "warn"}>{job.state_reason}</Callout>}
        {job.type === "reconcile" && !isActive(job) && <ReconcileReport job={job} />}
        <Columns
          sideWidth={440}
          main={
            <>
              {job.files_removed_at === null && <JobRate job={job} />}
              {job.type === "replay" && job.files_removed_at === null && <JobCheckpoints job={job} />}
              <JobArtefacts job={job} />
            </>
          }
          side={
            <>
              <JobPlan job={job} />
              <JobLogPanel job={job} />
            </>
          }
        />
      </Page>
    </DockedPage>
  )
}

/** States that need a reason; what went well speaks for itself. */
const SAYS_WHY: ReadonlySet<Job["state"]> = new Set(["failed", "partial", "cancelled"])

/** A comparison that ended well speaks through its tiles. */
const isCompared = ({ type, state }: Job): boolean => type === "reconcile" && state === "succeeded"

function Facts({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      {t("jobs.oneFacts", {
        type: t(`jobs.types.${job.type}`),
        id: shortId(job.id),
        by: job.created_by,
        time: format.when(job.started_at ?? job.created_at),
      })}
    </>
  )
}

function Actions({ job }: { job: Job }) {
  const { t } = useTranslation()
  const retry = useRetryJob(job.id)
  const canRetry = job.state === "failed" || job.state === "cancelled" || job.state === "partial"
  return (
    <>
      <CurlButton request={{ path: paths.job(job.id) }} />
      {canRetry && (
        <NeedsRight right="jobs">
          <Button
            leftSection={<IconRefresh size={15} stroke={1.6} />}
            loading={retry.isPending}
            onClick={() =>
              retry.mutate(undefined, {
                onSuccess: () => toastDone(t("jobs.retried", { name: jobNameOf(t, job) })),
                onError: (error) => toastFailed(t("jobs.notRetried", { name: jobNameOf(t, job) }), error),
              })
            }
          >
            {t("jobs.retry")}
          </Button>
        </NeedsRight>
      )}
      {isActive(job) && <CancelJob job={job} />}
    </>
  )
}

function CancelJob({ job }: { job: Job }) {
  const { t } = useTranslation()
  const cancel = useCancelJob(job.id)
  const [isAsking, setAsking] = useState(false)
  const written = job.counters.written
  const confirm = () =>
    cancel.mutate(undefined, {
      onSuccess: () => {
        setAsking(false)
        toastDone(t("jobs.cancelled", { name: jobNameOf(t, job) }))
      },
      onError: (error) => toastFailed(t("jobs.notCancelled", { name: jobNameOf(t, job) }), error),
    })
  return (
    <>
      <NeedsRight right="jobs">
        <Button data-danger leftSection={<IconX size={15} stroke={1.8} />} disabled={job.cancel_requested} onClick={() => setAsking(true)}>
          {job.cancel_requested ? t("jobs.cancelling") : t("jobs.cancel")}
        </Button>
      </NeedsRight>
      <ConfirmDanger
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("jobs.cancelTitle", { name: jobNameOf(t, job) })}
        action={t("jobs.cancel")}
        isBusy={cancel.isPending}
        onConfirm={confirm}
      >
        <p>{job.type !== "reconcile" ? t("jobs.cancelReplay", { count: written, n: count(written) }) : t("jobs.cancelReconcile")}</p>
      </ConfirmDanger>
    </>
  )
}
