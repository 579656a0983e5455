import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduledSummary } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

const POLL_MS = 10_000
export const HOUR_MS = 3_600_000

/** What waits, and what is due in each hour of these days. */
export const useScheduledSummary = (cluster: string, from: number, to: number) =>
  useQuery({
    queryKey: scheduledKeys.summary(cluster, String(from)),
    queryFn: ({ signal }) =>
      api.get<ScheduledSummary>(paths.scheduledSummary(cluster), { from: new Date(from).toISOString(), to: new Date(to).toISOString(), bucket_ms: HOUR_MS }, signal),
    refetchInterval: POLL_MS,
  })
