import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { POLL_MS, useLiveEvents } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Job, Page } from "@/lib/api-types"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import { jobKeys } from "./keys"

export interface JobsFilter {
  type?: string | undefined
  state?: string | undefined
}

const getJobs = (filter: JobsFilter, cursor: string | null, limit: number, signal: AbortSignal) =>
  api.get<Page<Job>>(paths.jobs, { ...filter, cursor, limit }, signal)

/** Any change of any job makes the lists ask again; while the channel is silent they poll. */
function useJobsRefresh(): number {
  const cache = useQueryClient()
  useLiveEvents(subjects.jobs, () => {
    void cache.invalidateQueries({ queryKey: jobKeys.lists })
  })
  return useStore(live.status).state === "open" ? POLL_MS * 6 : POLL_MS
}

export function useJobs(filter: JobsFilter) {
  const refetchInterval = useJobsRefresh()
  return useInfiniteQuery({
    queryKey: jobKeys.list(filter),
    queryFn: ({ pageParam, signal }) => getJobs(filter, pageParam, 50, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval,
  })
}

const RUNNING: JobsFilter = { state: "running" }

export function useRunningJobs() {
  const refetchInterval = useJobsRefresh()
  return useQuery({
    queryKey: [...jobKeys.list(RUNNING), "few"],
    queryFn: ({ signal }) => getJobs(RUNNING, null, 10, signal),
    select: ({ items }) => items,
    refetchInterval,
  })
}
