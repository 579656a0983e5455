import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job } from "@/lib/api-types"
import { jobKeys } from "./keys"

export function usePauseJob(id: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<Job>(paths.jobPause(id)),
    onSuccess: (job) => {
      cache.setQueryData(jobKeys.one(id), job)
      return cache.invalidateQueries({ queryKey: jobKeys.lists })
    },
  })
}
