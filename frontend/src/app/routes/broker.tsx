import { BrokerPage } from "@/features/clusters/components/broker-page"
import { useCluster } from "@/hooks/use-cluster"

export const BrokerRoute = () => <BrokerPage cluster={useCluster()} />
