import { useUnknownReason } from "@/features/clusters/api/get-overview"
import { GroupsPage } from "@/features/groups/components/groups-page"
import { useCluster } from "@/hooks/use-cluster"

export function GroupsRoute() {
  const cluster = useCluster()
  return <GroupsPage cluster={cluster} unknownReason={useUnknownReason(cluster, "groups")} />
}
