import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, Page } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

const RUNNING_MS = 1_500
const CALM_MS = 15_000
const MOST_JOBS = 100

export const isActive = ({ state }: Job): boolean => state === "queued" || state === "running"
export const groupOf = ({ request }: Job): string => String((request as { group?: unknown }).group ?? "")

/** The redrives of a cluster, or of one group, the newest first. */
export const useRedrives = (cluster: string, group: string | undefined) =>
  useQuery({
    queryKey: deadLetterKeys.redrives,
    queryFn: ({ signal }) => api.get<Page<Job>>(paths.jobs, { type: "redrive", limit: MOST_JOBS }, signal),
    select: ({ items }) => items.filter((job) => job.cluster === cluster && (group === undefined || groupOf(job) === group)),
    refetchInterval: ({ state }) => (state.data?.items.some(isActive) ? RUNNING_MS : CALM_MS),
  })
