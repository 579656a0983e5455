import { useAlertCounts } from "@/features/alerts/api/get-counts"
import { Wallboard } from "@/features/clusters/components/wallboard"
import { useCluster } from "@/hooks/use-cluster"

export function WallboardRoute() {
  const cluster = useCluster()
  const { data, isError } = useAlertCounts()
  return <Wallboard key={cluster} cluster={cluster} alerts={isError ? undefined : data} />
}
