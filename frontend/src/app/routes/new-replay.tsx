import { useTranslation } from "react-i18next"
import { ReplayWizard } from "@/features/jobs/components/replay-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic } from "@/features/topics/api/get-topic"
import { useTopicGroups } from "@/features/topics/api/get-topic-groups"
import { TopicQueues } from "@/features/topics/components/topic-queues"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

export function NewReplayRoute() {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [{ topic, target }] = useUrlState()
  return (
    <ReplayWizard
      topics={useTopicNames(cluster).data ?? []}
      source={useTopic(cluster, topic).data}
      target={useTopic(cluster, target).data}
      seenBy={useTopicGroups(cluster, target).data ?? []}
      queues={topic && <TopicQueues cluster={cluster} topic={topic} title={t("jobs.touched")} />}
    />
  )
}
