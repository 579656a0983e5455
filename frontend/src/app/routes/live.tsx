import { LivePage } from "@/features/live/components/live-page"
import { MessageDrawer } from "@/features/messages/components/message-drawer"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

const NONE: string[] = []

export function LiveRoute() {
  const cluster = useCluster()
  return (
    <LivePage
      cluster={cluster}
      names={useTopicNames(cluster).data ?? NONE}
      drawerOf={(address, onClose) => <MessageDrawer cluster={cluster} address={address} rows={[]} onShow={onClose} onClose={onClose} />}
    />
  )
}
