import { useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobLog } from "@/lib/api-types"
import { isActive } from "../progress"
import { jobKeys } from "./keys"

const POLL_MS = 2_000

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
