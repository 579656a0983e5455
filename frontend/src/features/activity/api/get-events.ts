import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { ActivityEvent, Page } from "@/lib/api-types"
import { type ActivityState, live } from "@/lib/live"
import { useStore } from "@/lib/store"

export interface Activity {
  /** The newest first. */
  items: ActivityEvent[]
  /** The numbers of events before which some were lost. */
  gaps: ReadonlySet<number>
}

const MOST = 500
const NO_GAPS: ReadonlySet<number> = new Set()

async function getEvents(cluster: string, signal: AbortSignal): Promise<Activity> {
  const { items } = await api.get<Page<ActivityEvent>>(paths.events(cluster), { limit: MOST }, signal)
  return { items, gaps: NO_GAPS }
}

const lastOf = ({ items }: Activity): number => items[0]?.seq ?? 0
const newer = (asked: Activity, told: Activity | undefined): Activity => (told && lastOf(told) >= lastOf(asked) ? told : asked)

/** By the time at which they were seen: an event that may be somebody's work over Gantry is told some seconds later. */
const inTime = ({ items, gaps }: Activity): Activity => ({
  items: [...items].sort((a, b) => (a.seen_at === b.seen_at ? b.seq - a.seq : a.seen_at < b.seen_at ? 1 : -1)),
  gaps,
})

/** The events of a cluster as they happen; asked for every few seconds while the live connection is down. */
export function useActivity(cluster: string) {
  const cache = useQueryClient()
  const { state } = useStore(live.status)
  useEffect(
    () =>
      live.subscribe(`activity:${cluster}`, ({ data }) => {
        const { items, gaps } = data as ActivityState & { items: ActivityEvent[] }
        cache.setQueryData<Activity>(["events", cluster], { items: [...items].reverse(), gaps: new Set(gaps) })
      }),
    [cache, cluster],
  )
  return useQuery({
    queryKey: ["events", cluster],
    // What the live connection told while this was on its way is newer.
    queryFn: async ({ signal }) => newer(await getEvents(cluster, signal), cache.getQueryData<Activity>(["events", cluster])),
    select: inTime,
    refetchInterval: state === "open" ? false : POLL_MS,
    staleTime: state === "open" ? Infinity : 0,
  })
}
