import { useParams } from "@tanstack/react-router"
import { useGroupNames } from "@/features/groups/api/find-groups"
import { useGroup } from "@/features/groups/api/get-group"
import { OffsetsPage } from "@/features/offsets/components/offsets-page"
import { useTopicNames } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"

export function GroupOffsetsRoute() {
  const { group } = useParams({ from: "/inside/groups/$group/offsets" })
  const cluster = useCluster()
  const own = useGroup(cluster, group).data?.topics ?? []
  const all = useTopicNames(cluster).data ?? []
  return <OffsetsPage cluster={cluster} group={group} own={own} topics={[...new Set([...own, ...all])]} groups={useGroupNames(cluster).data ?? []} />
}
