import type { TFunction } from "i18next"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { useClusters } from "@/features/clusters/api/get-clusters"
import { ScheduleJobFields } from "@/features/jobs/components/schedule-job-fields"
import { ShownRefusal } from "@/features/jobs/components/shown-refusal"
import { checkOf, exportOf, isCheck, isToFile, isWhole, reconcileOf, replayOf } from "@/features/jobs/request"
import { differingFields, formOf } from "@/features/jobs/request-state"
import { isSideWhole, titleOfSide } from "@/features/jobs/sides"
import { SchedulesPage } from "@/features/schedules/components/schedules-page"
import type { JobForm, ScheduledJob } from "@/features/schedules/scheduled-job"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"
import { useSideChoices } from "./side-choices"

const JOB_FORM: JobForm = {
  render: (use) => <JobOfAddress use={use} />,
  formOf,
  isOther: (one, other) => differingFields(one, other).length > 0,
}

export const SchedulesRoute = () => <SchedulesPage jobForm={JOB_FORM} />

function JobOfAddress({ use }: { use: (job: ScheduledJob) => ReactNode }) {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [state] = useUrlState()
  const topics = useTopicNames(cluster).data ?? []
  const clusters = useClusters().data?.map(({ name }) => name) ?? [cluster]
  const choices = { left: useSideChoices(state.lcluster ?? cluster), right: useSideChoices(state.rcluster ?? cluster) }
  const targetTopics = useTopicNames(state.tcluster ?? cluster).data ?? []
  const [job, jobName] = jobOf(t, state, cluster)
  return use({
    jobFields: (refusal) => (
      <ShownRefusal request={job} refusal={refusal}>
        <ScheduleJobFields topics={topics} targetTopics={targetTopics} clusters={clusters} choices={choices} />
      </ShownRefusal>
    ),
    job,
    isJobWhole: isWhole(job, state),
    jobName,
  })
}

/** The job of the address, and its name; without its topics there is nothing to be named after. */
function jobOf(t: TFunction, state: UrlState, cluster: string): [JobRequest, string] {
  const { topic, target } = state
  if (state.new === "reconcile") return isCheck(state) ? [checkOf(state, cluster), t("sides.checkName", { cluster })] : comparisonOf(t, state, cluster)
  if (state.new === "export") {
    const job = exportOf(state, cluster)
    return [job, topic ? t("jobs.exportName", { topic, format: t(`exporting.formats.${job.format}`) }) : ""]
  }
  const written = isToFile(state) ? t("exporting.formats.parquet") : target
  return [replayOf(state, cluster), topic && written ? t("jobs.replayName", { source: topic, target: written }) : ""]
}

function comparisonOf(t: TFunction, state: UrlState, cluster: string): [JobRequest, string] {
  const job = reconcileOf(state, cluster)
  const isNamed = isSideWhole(job.left) && isSideWhole(job.right)
  return [job, isNamed ? t("jobs.reconcileName", { left: titleOfSide(job.left), right: titleOfSide(job.right) }) : ""]
}
