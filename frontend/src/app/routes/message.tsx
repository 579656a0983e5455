import { useParams } from "@tanstack/react-router"
import { MessagePage } from "@/features/messages/components/message-page"
import { useCluster } from "@/hooks/use-cluster"

export function MessageRoute() {
  const { id } = useParams({ from: "/inside/messages/$id" })
  return <MessagePage cluster={useCluster()} id={id} />
}
