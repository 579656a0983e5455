import { useTranslation } from "react-i18next"
import { ScheduleJobFields } from "@/features/jobs/components/schedule-job-fields"
import { isWhole, reconcileOf, replayOf } from "@/features/jobs/request"
import { CreateSchedule } from "@/features/schedules/components/create-schedule"
import { SchedulesPage } from "@/features/schedules/components/schedules-page"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

export const SchedulesRoute = () => <SchedulesPage form={<Form />} />

function Form() {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [state] = useUrlState()
  const topics = useTopicNames(cluster).data ?? []
  const replay = replayOf(state, cluster)
  const reconcile = reconcileOf(state, cluster)
  const isReconcile = state.new === "reconcile"
  const job = isReconcile ? reconcile : replay
  // Without both topics there is nothing to be named after.
  const isNamed = Boolean(isReconcile ? state.left && state.right : state.topic && state.target)
  const jobName = !isNamed ? "" : isReconcile
    ? t("jobs.reconcileName", { left: reconcile.left.topic, right: reconcile.right.topic })
    : t("jobs.replayName", { source: replay.source.topic, target: replay.target.topic })
  return <CreateSchedule jobFields={<ScheduleJobFields topics={topics} />} job={job} isJobWhole={isWhole(job, state)} jobName={jobName} />
}
