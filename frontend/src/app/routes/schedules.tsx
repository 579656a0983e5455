import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { ScheduleJobFields } from "@/features/jobs/components/schedule-job-fields"
import { ShownRefusal } from "@/features/jobs/components/shown-refusal"
import { exportOf, isWhole, reconcileOf, replayOf } from "@/features/jobs/request"
import { CreateSchedule } from "@/features/schedules/components/create-schedule"
import { SchedulesPage } from "@/features/schedules/components/schedules-page"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"

export const SchedulesRoute = () => <SchedulesPage form={<Form />} />

function Form() {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [state] = useUrlState()
  const topics = useTopicNames(cluster).data ?? []
  const [job, jobName] = jobOf(t, state, cluster)
  return (
    <CreateSchedule
      jobFields={(refusal) => (
        <ShownRefusal request={job} refusal={refusal}>
          <ScheduleJobFields topics={topics} />
        </ShownRefusal>
      )}
      job={job}
      isJobWhole={isWhole(job, state)}
      jobName={jobName}
    />
  )
}

/** The job of the address, and its name; without its topics there is nothing to be named after. */
function jobOf(t: TFunction, state: UrlState, cluster: string): [JobRequest, string] {
  const { topic, target, left, right } = state
  if (state.new === "reconcile") return [reconcileOf(state, cluster), left && right ? t("jobs.reconcileName", { left, right }) : ""]
  if (state.new === "export") {
    const job = exportOf(state, cluster)
    return [job, topic ? t("jobs.exportName", { topic, format: t(`exporting.formats.${job.format}`) }) : ""]
  }
  return [replayOf(state, cluster), topic && target ? t("jobs.replayName", { source: topic, target }) : ""]
}
