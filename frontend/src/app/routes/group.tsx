import { useParams } from "@tanstack/react-router"
import { Columns } from "@/components/layout/page"
import { ClientsBrief } from "@/features/groups/components/group-clients"
import { GroupPage } from "@/features/groups/components/group-page"
import { LagChart } from "@/features/lag/components/lag-chart"
import { LagTable } from "@/features/lag/components/lag-table"
import { useCluster } from "@/hooks/use-cluster"

export function GroupRoute() {
  const { group } = useParams({ from: "/inside/groups/$group" })
  const cluster = useCluster()
  return (
    <GroupPage
      cluster={cluster}
      group={group}
      lag={(known) => (
        <>
          <LagChart cluster={cluster} group={known} />
          <Columns main={<LagTable group={known} />} side={<ClientsBrief cluster={cluster} group={group} />} />
        </>
      )}
    />
  )
}
