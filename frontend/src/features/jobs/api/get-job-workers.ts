import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { JobWorkers } from "@/lib/api-types"
import { jobKeys } from "./keys"

/** A worker says every two seconds that it lives; nothing tells of it over the live channel. */
const POLL_MS = 5_000

/** Which workers live, what they run, and what waits for them. */
export const useJobWorkers = (isWanted = true) =>
  useQuery({
    queryKey: jobKeys.workers,
    queryFn: ({ signal }) => api.get<JobWorkers>(paths.jobWorkers, undefined, signal),
    enabled: isWanted,
    refetchInterval: POLL_MS,
  })
