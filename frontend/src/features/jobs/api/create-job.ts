import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobRequest, MissingRequest } from "@/lib/api-types"
import { jobKeys } from "./keys"

/** Starts a job: any, or by another path one that follows from a job that ended. */
export function useCreateJob(path: string = paths.jobs) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (request: JobRequest | MissingRequest) => api.post<Job>(path, request),
    onSuccess: (job) => {
      cache.setQueryData(jobKeys.one(job.id), job)
      return cache.invalidateQueries({ queryKey: jobKeys.lists })
    },
  })
}
