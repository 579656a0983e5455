import { MessagesPage } from "@/features/messages/components/messages-page"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

const NONE: string[] = []

export function MessagesRoute() {
  const cluster = useCluster()
  return <MessagesPage cluster={cluster} topics={useTopicNames(cluster).data ?? NONE} />
}
