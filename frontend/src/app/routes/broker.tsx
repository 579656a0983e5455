import { DockedPage } from "@/components/drawer/docked-drawer"
import { BrokerSettings, SettingDrawer } from "@/features/brokers/components/broker-settings"
import { useOverview } from "@/features/clusters/api/get-overview"
import { BrokerPage } from "@/features/clusters/components/broker-page"
import { useCluster } from "@/hooks/use-cluster"

/** The brokers, and the settings of one that answers. */
export function BrokerRoute() {
  const cluster = useCluster()
  const brokers = useMastersThatAnswer(cluster)
  const isAsked = brokers.length > 0
  return (
    <DockedPage drawer={isAsked && <SettingDrawer cluster={cluster} brokers={brokers} />}>
      <BrokerPage cluster={cluster}>{isAsked && <BrokerSettings cluster={cluster} brokers={brokers} />}</BrokerPage>
    </DockedPage>
  )
}

/** Only these can be asked for their settings; why another is silent stands in its row. */
function useMastersThatAnswer(cluster: string): string[] {
  const all = useOverview(cluster).data?.brokers ?? []
  return [...new Set(all.filter(({ reachable, broker_id: id }) => reachable && id === 0).map(({ name }) => name))]
}
