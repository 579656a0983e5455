import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Job } from "@/lib/api-types"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import { hasEnded } from "../progress"
import { jobKeys } from "./keys"

const POLL_MS = 2_000
const CALM_MS = 15_000

/** One job, or none: first by HTTP, then each change from the live channel. */
export function useJob(id: string | undefined) {
  const queryKey = jobKeys.one(id ?? "")
  // A job speaks only when it changes: while the channel is open its silence is no reason to ask.
  const isOpen = useStore(live.status).state === "open"
  const refetchInterval = useLiveQuery(id === undefined ? null : subjects.job(id), queryKey, isOpen ? CALM_MS : POLL_MS)
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Job>(paths.job(id ?? ""), undefined, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : refetchInterval),
  })
}
