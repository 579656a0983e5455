import { Button } from "@mantine/core"
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconRefresh, IconX } from "@tabler/icons-react"
import type { UseMutationResult } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Job, JobRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useCancelJob } from "../api/cancel-job"
import { usePauseJob } from "../api/pause-job"
import { useResumeJob } from "../api/resume-job"
import { useRetryJob } from "../api/retry-job"
import { jobNameOf } from "../job-name"
import { hasEnded, hasPassedAll } from "../progress"
import { redriveFormOf } from "../redrive-state"
import { formOf } from "../request-state"

/** What can be done to a job in its state. */
export function JobActions({ job }: { job: Job }) {
  const { t } = useTranslation()
  const retry = useRetryJob(job.id)
  const pause = usePauseJob(job.id)
  const resume = useResumeJob(job.id)
  const canRetry = job.state === "failed" || job.state === "cancelled" || job.state === "partial"
  // Without its checkpoints it cannot go on.
  const hasFiles = job.files_removed_at === null
  const isPausing = job.pause_requested && job.state === "running"
  const name = jobNameOf(t, job)
  return (
    <>
      <CurlButton request={{ path: paths.job(job.id) }} />
      {canRetry && hasFiles && !hasPassedAll(job) && (
        <Act change={retry} icon={<IconRefresh size={15} stroke={1.6} />} done={t("jobs.retried", { name })} failed={t("jobs.notRetried", { name })}>
          {t("jobs.retry")}
        </Act>
      )}
      {hasEnded(job) && <Change job={job} />}
      {!hasEnded(job) && job.state !== "paused" && !isPausing && !job.cancel_requested && (
        <Act change={pause} icon={<IconPlayerPause size={15} stroke={1.6} />} done={t("jobs.pausing", { name })} failed={t("jobs.notPaused", { name })}>
          {t("jobs.pause")}
        </Act>
      )}
      {(job.state === "paused" || isPausing) && (
        <Act change={resume} icon={<IconPlayerPlay size={15} stroke={1.6} />} done={t("jobs.resumed", { name })} failed={t("jobs.notResumed", { name })}>
          {t("jobs.resume")}
        </Act>
      )}
      {!hasEnded(job) && <CancelJob job={job} />}
    </>
  )
}

/** Opens the wizard with the request of a job, so that a new one can be started with what was wrong put right. */
function Change({ job }: { job: Job }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { state, lost } = job.type === "redrive" ? redriveFormOf(job.request) : formOf(asReal(job.request as JobRequest))
  // What the form cannot show it would leave out.
  if (lost.length > 0) return null
  return (
    <NeedsRight right={job.type === "redrive" ? "redrive" : "jobs"}>
      <Button leftSection={<IconPencil size={15} stroke={1.6} />} onClick={() => void navigate({ to: `/jobs/new/${job.type}`, search: { ...state, cluster: job.cluster } })}>
        {t("jobPages.change")}
      </Button>
    </NeedsRight>
  )
}

/** The form makes a dry run of its own. */
const asReal = (request: JobRequest): JobRequest => ({ ...request, dry_run: false })

interface ActProps {
  change: UseMutationResult<Job | undefined, Error, void>
  icon: ReactNode
  done: string
  failed: string
  children: string
}

function Act({ change, icon, done, failed, children }: ActProps) {
  return (
    <NeedsRight right="jobs">
      <Button
        leftSection={icon}
        loading={change.isPending}
        onClick={() => change.mutate(undefined, { onSuccess: () => toastDone(done), onError: (error) => toastFailed(failed, error) })}
      >
        {children}
      </Button>
    </NeedsRight>
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
