import { DeadLettersPage } from "@/features/dead-letters/components/dead-letters-page"
import { MessageDrawer } from "@/features/messages/components/message-drawer"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

const NONE: string[] = []

export function DeadLettersRoute() {
  const cluster = useCluster()
  return (
    <DeadLettersPage
      cluster={cluster}
      topics={useTopicNames(cluster).data ?? NONE}
      drawer={(topic, id, onClose) => <MessageDrawer cluster={cluster} address={{ topic, id }} rows={[]} onShow={onClose} onClose={onClose} />}
    />
  )
}
