import { useParams } from "@tanstack/react-router"
import { Columns } from "@/components/layout/page"
import { ResourceEvents } from "@/features/activity/components/resource-events"
import { ResourceChanges } from "@/features/audit/components/resource-changes"
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
      activity={
        <Columns
          main={<ResourceEvents cluster={cluster} kind="topic" name={topic} />}
          side={<ResourceChanges resource={`${cluster}/topics/${topic}`} />}
        />
      }
      groups={<Groups cluster={cluster} topic={topic} />}
    />
  )
}

function Groups({ cluster, topic }: { cluster: string; topic: string }) {
  return <GroupsOfTopic topic={topic} query={useTopicGroups(cluster, topic)} />
}
