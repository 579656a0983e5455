import { TopicsPage } from "@/features/topics/components/topics-page"
import { useCluster } from "@/hooks/use-cluster"

export const TopicsRoute = () => <TopicsPage cluster={useCluster()} />
