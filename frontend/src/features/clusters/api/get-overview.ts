import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Overview } from "@/lib/api-types"

export const overviewKey = (cluster: string) => ["clusters", cluster, "overview"] as const

const getOverview = (cluster: string, signal: AbortSignal) =>
  api.get<Overview>(paths.overview(cluster), undefined, signal)

/** The key figures of a cluster: first by HTTP, then from the live channel each second. */
export function useOverview(cluster: string) {
  const queryKey = overviewKey(cluster)
  const refetchInterval = useLiveQuery(subjects.overview(cluster), queryKey)
  return useQuery({ queryKey, queryFn: ({ signal }) => getOverview(cluster, signal), refetchInterval })
}
