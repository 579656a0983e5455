import { type InfiniteData, type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { subjects } from "@/config/subjects"
import { POLL_MS, useLiveEvents } from "@/hooks/use-live"
import type { Job, Page } from "@/lib/api-types"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import { runningJobsQuery } from "./get-jobs"
import { jobKeys } from "./keys"

const CALM_MS = 60_000

/** What the live channel tells of the list: a job changed. It does so for each step of its progress, too. */
interface JobsEvent {
  changed: string
  state: Job["state"]
}

/**
 * Keeps every list of jobs up to date, for the whole console: mounted once. Progress comes from the jobs themselves, so
 * that the lists are asked for again only when a job begins or ends.
 */
export function useJobsFeed(): void {
  const cache = useQueryClient()
  const isOpen = useStore(live.status).state === "open"
  const { data } = useQuery({ ...runningJobsQuery, refetchInterval: isOpen ? CALM_MS : POLL_MS })
  const told = useRef(new Map<string, Job["state"]>())
  useLiveEvents(subjects.jobs, (event) => {
    const { changed, state } = event.data as JobsEvent
    if ((told.current.get(changed) ?? stateIn(cache, changed)) === state) return
    told.current.set(changed, state)
    void cache.invalidateQueries({ queryKey: jobKeys.lists })
  })
  useProgress(data?.items.map(({ id }) => id) ?? [])
}

const stateIn = (cache: QueryClient, id: string): Job["state"] | undefined =>
  cache.getQueryData<Page<Job>>(runningJobsQuery.queryKey)?.items.find((job) => job.id === id)?.state

/** Writes each state of these jobs into every list that shows them. */
function useProgress(ids: string[]): void {
  const cache = useQueryClient()
  const wanted = ids.join(" ")
  useEffect(() => {
    const take = ({ data }: { data: unknown }) => put(cache, data as Job)
    const stops = wanted.split(" ").filter(Boolean).map((id) => live.subscribe(subjects.job(id), take))
    return () => stops.forEach((stop) => stop())
  }, [cache, wanted])
}

function put(cache: QueryClient, job: Job): void {
  cache.setQueriesData<Page<Job> | InfiniteData<Page<Job>>>({ queryKey: jobKeys.lists }, (known) => {
    if (!known) return known
    return "pages" in known ? { ...known, pages: known.pages.map((page) => withJob(page, job)) } : withJob(known, job)
  })
}

const withJob = (page: Page<Job>, job: Job): Page<Job> => ({
  ...page,
  items: page.items.map((known) => (known.id === job.id ? job : known)),
})
