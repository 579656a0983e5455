import { useParams } from "@tanstack/react-router"
import { Columns } from "@/components/layout/page"
import { ResourceEvents } from "@/features/activity/components/resource-events"
import { ResourceChanges } from "@/features/audit/components/resource-changes"
import { GroupDeadLetters } from "@/features/dead-letters/components/group-dead-letters"
import { OverLimit } from "@/features/alerts/components/over-limit"
import { ClientsBrief } from "@/features/groups/components/group-clients"
import { GroupPage } from "@/features/groups/components/group-page"
import { LagChart } from "@/features/lag/components/lag-chart"
import { LagTable } from "@/features/lag/components/lag-table"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

const NONE: string[] = []

export function GroupRoute() {
  const { group } = useParams({ from: "/inside/groups/$group" })
  const cluster = useCluster()
  const topics = useTopicNames(cluster).data ?? NONE
  return (
    <GroupPage
      cluster={cluster}
      group={group}
      deadLetters={() => <GroupDeadLetters cluster={cluster} group={group} topics={topics} />}
      activity={() => (
        <Columns
          main={<ResourceEvents cluster={cluster} kind="group" name={group} />}
          side={<ResourceChanges resource={`${cluster}/groups/${group}`} />}
        />
      )}
      mark={<OverLimit cluster={cluster} group={group} />}
      lag={(known) => (
        <>
          <LagChart cluster={cluster} group={known} />
          <Columns main={<LagTable group={known} />} side={<ClientsBrief cluster={cluster} group={group} />} />
        </>
      )}
    />
  )
}
