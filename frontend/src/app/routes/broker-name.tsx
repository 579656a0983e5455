import { useParams } from "@tanstack/react-router"
import { ResourceChanges } from "@/features/audit/components/resource-changes"
import { ReplicasPage } from "@/features/brokers/components/replicas-page"
import { useCluster } from "@/hooks/use-cluster"

/** One broker name: its replicas, and who changed it over Gantry. */
export function BrokerNameRoute() {
  const { broker } = useParams({ from: "/inside/broker/$broker" })
  const cluster = useCluster()
  return (
    <ReplicasPage cluster={cluster} broker={broker}>
      <ResourceChanges resource={`${cluster}/brokers/${broker}`} />
    </ReplicasPage>
  )
}
