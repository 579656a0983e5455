import { useTranslation } from "react-i18next"
import { useClusters } from "@/features/clusters/api/get-clusters"
import { ReplayWizard } from "@/features/jobs/components/replay-wizard"
import { ReadRange } from "@/features/jobs/components/read-range"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic } from "@/features/topics/api/get-topic"
import { STATS_RANGES, useTopicStats } from "@/features/topics/api/get-topic-stats"
import { useTopicGroups } from "@/features/topics/api/get-topic-groups"
import { TopicQueues } from "@/features/topics/components/topic-queues"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

export function NewReplayRoute() {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [{ topic, target, tcluster }] = useUrlState()
  const targetCluster = tcluster ?? cluster
  return (
    <ReplayWizard
      topics={useTopicNames(cluster).data ?? []}
      source={useTopic(cluster, topic).data}
      target={useTopic(targetCluster, target).data}
      seenBy={useTopicGroups(targetCluster, target).data ?? []}
      clusters={useClusters().data?.map(({ name }) => name) ?? [cluster]}
      targetTopics={useTopicNames(targetCluster).data ?? []}
      stored={topic && <Stored cluster={cluster} topic={topic} />}
      queues={topic && <TopicQueues cluster={cluster} topic={topic} title={t("jobs.touched")} />}
    />
  )
}

function Stored({ cluster, topic }: { cluster: string; topic: string }) {
  const [state] = useUrlState()
  const range = STATS_RANGES.find((each) => each === state.range) ?? "1h"
  return <ReadRange stats={useTopicStats(cluster, topic, range)} range={range} ranges={STATS_RANGES} />
}
