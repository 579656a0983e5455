import { useClusters } from "@/features/clusters/api/get-clusters"
import { ReconcileWizard } from "@/features/jobs/components/reconcile-wizard"
import { useTopic } from "@/features/topics/api/get-topic"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import { useSideChoices } from "./side-choices"

export function NewReconcileRoute() {
  const cluster = useCluster()
  const [{ left, right, lcluster, rcluster }] = useUrlState()
  const [ofLeft, ofRight] = [lcluster ?? cluster, rcluster ?? cluster]
  return (
    <ReconcileWizard
      clusters={useClusters().data?.map(({ name }) => name) ?? [cluster]}
      choices={{ left: useSideChoices(ofLeft), right: useSideChoices(ofRight) }}
      left={useTopic(ofLeft, left).data}
      right={useTopic(ofRight, right).data}
    />
  )
}
