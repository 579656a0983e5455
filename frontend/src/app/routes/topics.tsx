import { useUnknownReason } from "@/features/clusters/api/get-overview"
import { TopicsPage } from "@/features/topics/components/topics-page"
import { useCluster } from "@/hooks/use-cluster"

export function TopicsRoute() {
  const cluster = useCluster()
  return <TopicsPage cluster={cluster} unknownReason={useUnknownReason(cluster, "topics")} />
}
