import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense } from "react"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { FiringAlerts } from "@/features/alerts/components/firing-alerts"
import { RecentChanges } from "@/features/audit/components/recent-changes"
import { useOverview } from "@/features/clusters/api/get-overview"
import { FirstRun } from "@/features/clusters/components/first-run"
import { OverviewPage } from "@/features/clusters/components/overview-page"
import { firstRunClosed } from "@/features/clusters/first-run"
import { RunningJobs } from "@/features/jobs/components/running-jobs"
import { fewTopicsQuery } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import type { Overview } from "@/lib/api-types"
import { withAllWords } from "@/lib/i18n"
import { useStore } from "@/lib/store"

// It says more than the first page needs to begin with.
const RecentEvents = lazy(async () => ({ default: (await withAllWords(import("@/features/activity/components/recent-events"))).RecentEvents }))

/** The overview; on an empty install the first steps instead. */
export function OverviewRoute() {
  const cluster = useCluster()
  const { isDeciding, first } = useFirstSteps(cluster)
  if (isDeciding) return <SkeletonBlock height={240} />
  if (first) return <FirstRun cluster={cluster} topic={first.topic} messages={first.messages} />
  return (
    <OverviewPage
      cluster={cluster}
      side={
        <>
          <FiringAlerts cluster={cluster} />
          <RunningJobs />
          <Suspense fallback={<SkeletonBlock height={240} />}>
            <RecentEvents cluster={cluster} />
          </Suspense>
          <RecentChanges cluster={cluster} />
        </>
      }
    />
  )
}

/** At most one topic and no group, as all that is known answered: somebody may still be taking the first steps. */
const isNearlyEmpty = (overview: Overview | undefined): boolean =>
  overview?.groups === 0 && overview.topics !== null && overview.topics <= 1 && overview.brokers_answering > 0 && overview.missing.length === 0

/** Whether the first steps are shown, and how far they are; undecided until it is known, so that nothing flashes. */
function useFirstSteps(cluster: string) {
  const overview = useOverview(cluster)
  const isClosed = useStore(firstRunClosed)
  const mayBeFirst = !isClosed && isNearlyEmpty(overview.data)
  const topics = useQuery({ ...fewTopicsQuery(cluster), enabled: mayBeFirst, refetchInterval: mayBeFirst ? 2_000 : false })
  const waits = ({ data, error }: { data: unknown; error: unknown }) => data === undefined && error === null
  const isDeciding = !isClosed && (waits(overview) || (mayBeFirst && waits(topics)))
  const topic = topics.data?.items[0]
  // How many messages a topic holds may not be known yet: nothing is called empty before.
  const isCounted = topic === undefined || topic.messages !== null
  const first = mayBeFirst && topics.data && isCounted ? { topic: topic?.name ?? null, messages: topic?.messages ?? 0 } : null
  return { isDeciding, first }
}
