import { ReplayWizard } from "@/features/jobs/components/replay-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic, useTopicGroups } from "@/features/topics/api/get-topic"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

export function NewReplayRoute() {
  const cluster = useCluster()
  const [{ topic, target }] = useUrlState()
  return (
    <ReplayWizard
      topics={useTopicNames(cluster).data ?? []}
      source={useTopic(cluster, topic).data}
      target={useTopic(cluster, target).data}
      seenBy={useTopicGroups(cluster, target).data ?? []}
    />
  )
}
