import { useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobLog } from "@/lib/api-types"
import { isActive } from "../progress"
import { jobKeys } from "./keys"

const POLL_MS = 2_000
/** A piece shorter than this is the last one: pieces are cut after a line. */
const FULL = 16_384

/** One answer has at most 64 KiB: so many are read in a row, the rest of a long log at the next turns. */
const PIECES = 16

interface WholeLog extends JobLog {
  /** Whether the end was reached. */
  isWhole: boolean
}

/** The log so far, once it may be read; each reading asks only for what is new. */
export function useJobLog(job: Job, isAllowed: boolean) {
  const cache = useQueryClient()
  const queryKey = jobKeys.log(job.id)
  return useQuery({
    queryKey: [...queryKey, isActive(job)],
    queryFn: async ({ signal }): Promise<WholeLog> => {
      let log: WholeLog = { text: "", next_offset: 0, ...cache.getQueryData<WholeLog>([...queryKey, "text"]), isWhole: false }
      for (let piece = 0; piece < PIECES && !log.isWhole; piece += 1) {
        const more = await api.get<JobLog>(paths.jobLog(job.id), { offset: log.next_offset }, signal)
        log = { text: log.text + more.text, next_offset: more.next_offset, isWhole: more.text.length < FULL }
      }
      cache.setQueryData([...queryKey, "text"], log)
      return log
    },
    enabled: isAllowed,
    refetchInterval: ({ state }) => (isActive(job) || state.data?.isWhole === false ? POLL_MS : false),
  })
}
