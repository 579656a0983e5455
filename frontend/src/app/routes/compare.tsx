import { ComparePage } from "@/features/messages/components/compare-page"
import { useCluster } from "@/hooks/use-cluster"

export const CompareRoute = () => <ComparePage cluster={useCluster()} />
