import { useParams } from "@tanstack/react-router"
import { GroupsOfTopic } from "@/features/groups/components/groups-of-topic"
import { TopicMessages } from "@/features/messages/components/topic-messages"
import { useTopicGroups } from "@/features/topics/api/get-topic-groups"
import { TopicPage } from "@/features/topics/components/topic-page"
import { useCluster } from "@/hooks/use-cluster"

export function TopicRoute() {
  const { topic } = useParams({ from: "/inside/topics/$topic" })
  const cluster = useCluster()
  return (
    <TopicPage
      cluster={cluster}
      topic={topic}
      messages={<TopicMessages cluster={cluster} topic={topic} />}
      groups={<Groups cluster={cluster} topic={topic} />}
    />
  )
}

function Groups({ cluster, topic }: { cluster: string; topic: string }) {
  return <GroupsOfTopic topic={topic} query={useTopicGroups(cluster, topic)} />
}
