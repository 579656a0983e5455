import { useParams } from "@tanstack/react-router"
import { useCallback } from "react"
import { ResourceChanges } from "@/features/audit/components/resource-changes"
import { ControllersPanel } from "@/features/brokers/components/controllers-panel"
import { ReplicasPage } from "@/features/brokers/components/replicas-page"
import { ForgetBroker } from "@/features/clusters/components/forget-broker"
import { useCluster } from "@/hooks/use-cluster"
import type { Replica } from "@/lib/api-types"

/** One broker name: its replicas, and who changed it over Gantry. */
export function BrokerNameRoute() {
  const { broker } = useParams({ from: "/inside/broker/$broker" })
  const cluster = useCluster()
  const forget = useCallback(
    ({ broker_id: id, address, last_seen_at: seen }: Replica) => <ForgetBroker cluster={cluster} broker={broker} process={{ id, address, seen }} />,
    [cluster, broker],
  )
  return (
    <ReplicasPage cluster={cluster} broker={broker} forget={forget}>
      <ControllersPanel cluster={cluster} />
      <ResourceChanges resource={`${cluster}/brokers/${broker}`} />
    </ReplicasPage>
  )
}
