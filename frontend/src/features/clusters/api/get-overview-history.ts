import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OverviewHistory, Range } from "@/lib/api-types"

const getOverviewHistory = (cluster: string, range: Range, signal: AbortSignal) =>
  api.get<OverviewHistory>(paths.overviewHistory(cluster), { range }, signal)

/** What was measured over the range; asked again when a new step is due, at most every ten seconds. */
export const useOverviewHistory = (cluster: string, range: Range) =>
  useQuery({
    queryKey: ["clusters", cluster, "overview-history", range],
    queryFn: ({ signal }) => getOverviewHistory(cluster, range, signal),
    refetchInterval: ({ state }) => Math.max(10_000, state.data?.step_ms ?? 10_000),
    placeholderData: keepPreviousData,
  })
