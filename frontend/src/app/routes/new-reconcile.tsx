import { ReconcileWizard } from "@/features/jobs/components/reconcile-wizard"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useTopic } from "@/features/topics/api/get-topic"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"

export function NewReconcileRoute() {
  const cluster = useCluster()
  const [{ left, right }] = useUrlState()
  return (
    <ReconcileWizard
      topics={useTopicNames(cluster).data ?? []}
      left={useTopic(cluster, left).data}
      right={useTopic(cluster, right).data}
    />
  )
}
