import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobProgress } from "@/lib/api-types"
import { isActive } from "../progress"
import { jobKeys } from "./keys"

const POLL_MS = 3_000

/** The counters of the whole run and its checkpoints; read once more when the job has ended. */
export const useJobProgress = (job: Job) =>
  useQuery({
    queryKey: [...jobKeys.progress(job.id), job.state],
    queryFn: ({ signal }) => api.get<JobProgress>(paths.jobProgress(job.id), undefined, signal),
    placeholderData: (known) => known,
    refetchInterval: isActive(job) ? POLL_MS : false,
    enabled: job.files_removed_at === null,
    retry: false,
  })
