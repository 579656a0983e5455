import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Job, Page } from "@/lib/api-types"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import { jobKeys } from "./keys"

export interface JobsFilter {
  type?: string | undefined
  state?: string | undefined
  topic?: string | undefined
  group?: string | undefined
  created_by?: string | undefined
  schedule?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

const getJobs = (filter: JobsFilter, cursor: string | null, limit: number, signal: AbortSignal) =>
  api.get<Page<Job>>(paths.jobs, { ...filter, cursor, limit }, signal)

/** Jobs page by page; `useJobsFeed` keeps them up to date, and while the channel is silent they poll. None for null. */
export function useJobs(filter: JobsFilter | null) {
  const isOpen = useStore(live.status).state === "open"
  return useInfiniteQuery({
    queryKey: jobKeys.list(filter),
    queryFn: ({ pageParam, signal }) => getJobs(filter ?? {}, pageParam, 50, signal),
    enabled: filter !== null,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: isOpen ? false : POLL_MS,
  })
}

const RUNNING: JobsFilter = { state: "running" }
const MOST_RUNNING = 10

export const runningJobsQuery = {
  queryKey: [...jobKeys.list(RUNNING), "few"],
  queryFn: ({ signal }: { signal: AbortSignal }) => getJobs(RUNNING, null, MOST_RUNNING, signal),
}

export const useRunningJobs = () => useQuery({ ...runningJobsQuery, select: ({ items }) => items, staleTime: Infinity })
