import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobRequest } from "@/lib/api-types"
import { jobKeys } from "./keys"

export function useCreateJob() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (request: JobRequest) => api.post<Job>(paths.jobs, request),
    onSuccess: (job) => {
      cache.setQueryData(jobKeys.one(job.id), job)
      return cache.invalidateQueries({ queryKey: jobKeys.lists })
    },
  })
}
