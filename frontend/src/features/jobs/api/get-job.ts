import { useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Job, JobLog } from "@/lib/api-types"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import { isActive } from "../progress"
import type { Report } from "../report"
import { jobKeys } from "./keys"

const POLL_MS = 2_000
const CALM_MS = 15_000

/** One job: first by HTTP, then each change from the live channel. */
export function useJob(id: string) {
  const queryKey = jobKeys.one(id)
  // A job speaks only when it changes: while the channel is open its silence is no reason to ask.
  const isOpen = useStore(live.status).state === "open"
  const refetchInterval = useLiveQuery(subjects.job(id), queryKey, isOpen ? CALM_MS : POLL_MS)
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Job>(paths.job(id), undefined, signal),
    refetchInterval: ({ state }) => (state.data && !isActive(state.data) ? false : refetchInterval),
  })
}

/** The log so far; each reading asks only for what is new. */
export function useJobLog(job: Job) {
  const cache = useQueryClient()
  const queryKey = jobKeys.log(job.id)
  return useQuery({
    queryKey: [...queryKey, isActive(job)],
    queryFn: async ({ signal }): Promise<JobLog> => {
      const known = cache.getQueryData<JobLog>([...queryKey, "text"]) ?? { text: "", next_offset: 0 }
      const more = await api.get<JobLog>(paths.jobLog(job.id), { offset: known.next_offset }, signal)
      const whole = { text: known.text + more.text, next_offset: more.next_offset }
      cache.setQueryData([...queryKey, "text"], whole)
      return whole
    },
    refetchInterval: isActive(job) ? POLL_MS : false,
  })
}

/** What the job found or did; there when it ended. */
export const useJobReport = (job: Job) =>
  useQuery({
    queryKey: [...jobKeys.report(job.id), job.state],
    queryFn: ({ signal }) => api.get<Report>(paths.jobReport(job.id), undefined, signal),
    enabled: !isActive(job),
    retry: false,
  })
