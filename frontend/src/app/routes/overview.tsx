import { useQuery } from "@tanstack/react-query"
import { RecentChanges } from "@/features/audit/components/recent-changes"
import { useOverview } from "@/features/clusters/api/get-overview"
import { FirstRun } from "@/features/clusters/components/first-run"
import { OverviewPage } from "@/features/clusters/components/overview-page"
import { firstRunClosed } from "@/features/clusters/first-run"
import { RunningJobs } from "@/features/jobs/components/running-jobs"
import { fewTopicsQuery } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { useStore } from "@/lib/store"

/** The overview; on an empty install the first steps instead. */
export function OverviewRoute() {
  const cluster = useCluster()
  const overview = useOverview(cluster).data
  const isClosed = useStore(firstRunClosed)
  const mayBeFirst = !isClosed && overview?.topics !== null && (overview?.topics ?? 2) <= 1 && (overview?.groups ?? 1) === 0
  const topics = useQuery({ ...fewTopicsQuery(cluster), enabled: mayBeFirst, refetchInterval: mayBeFirst ? 2_000 : false })
  if (mayBeFirst && topics.data) {
    const first = topics.data.items[0]
    return <FirstRun cluster={cluster} topic={first?.name ?? null} messages={first?.messages ?? 0} />
  }
  return (
    <OverviewPage
      cluster={cluster}
      side={
        <>
          <RunningJobs />
          <RecentChanges />
        </>
      }
    />
  )
}
