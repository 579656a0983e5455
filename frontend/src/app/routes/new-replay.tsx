import { useClusters } from "@/features/clusters/api/get-clusters"
import { ReplayWizard } from "@/features/jobs/components/replay-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic } from "@/features/topics/api/get-topic"
import { useTopicGroups } from "@/features/topics/api/get-topic-groups"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import { SourceQueues, StoredOverTime } from "./source-topic"

/** The groups that consume from a topic; absent where the latest answer does not tell. */
function useGroupsOf(cluster: string, topic: string | undefined) {
  const { data, isError } = useTopicGroups(cluster, topic)
  return isError ? undefined : data
}

export function NewReplayRoute() {
  const cluster = useCluster()
  const [{ topic, target, tcluster }] = useUrlState()
  const targetCluster = tcluster ?? cluster
  return (
    <ReplayWizard
      topics={useTopicNames(cluster).data ?? []}
      source={useTopic(cluster, topic).data}
      target={useTopic(targetCluster, target).data}
      seenBy={useGroupsOf(targetCluster, target)}
      clusters={useClusters().data?.map(({ name }) => name) ?? [cluster]}
      targetTopics={useTopicNames(targetCluster).data ?? []}
      stored={topic && <StoredOverTime cluster={cluster} topic={topic} />}
      queues={topic && <SourceQueues cluster={cluster} topic={topic} />}
    />
  )
}
