import { useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, RedriveOutcomes } from "@/lib/api-types"
import { groupOf, isActive } from "./get-redrives"
import { deadLetterKeys } from "./keys"

const RUNNING_MS = 2_000
const CALM_MS = 15_000
const A_PAGE = 10

/** What became of each message of a redrive, the newest first; what was read while it ran is not shown as the result of its end. */
export function useOutcomes(cluster: string, job: Job, outcome: string | undefined) {
  const group = groupOf(job)
  return useInfiniteQuery({
    queryKey: [...deadLetterKeys.outcomes(cluster, group, job.id, outcome ?? ""), job.state],
    queryFn: ({ pageParam, signal }) =>
      api.get<RedriveOutcomes>(paths.deadLetterOutcomes(cluster, group), { job: job.id, outcome, limit: A_PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: isActive(job) ? RUNNING_MS : CALM_MS,
  })
}
