import { ScheduledPage } from "@/features/scheduled/components/scheduled-page"
import { useCluster } from "@/hooks/use-cluster"

export function ScheduledRoute() {
  return <ScheduledPage cluster={useCluster()} />
}
