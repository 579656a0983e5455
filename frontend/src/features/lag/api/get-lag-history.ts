import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupHistory, Range } from "@/lib/api-types"

const getLagHistory = (cluster: string, group: string, range: Range, signal: AbortSignal) =>
  api.get<GroupHistory>(paths.groupLagHistory(cluster, group), { range }, signal)

export const useLagHistory = (cluster: string, group: string, range: Range) =>
  useQuery({
    queryKey: ["lag", cluster, group, range],
    queryFn: ({ signal }) => getLagHistory(cluster, group, range, signal),
    refetchInterval: ({ state }) => Math.max(15_000, state.data?.step_ms ?? 15_000),
    placeholderData: keepPreviousData,
  })
