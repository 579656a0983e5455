import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobChange } from "@/lib/api-types"
import { jobKeys } from "./keys"

export function useChangeLimits(id: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (limits: JobChange["limits"]) => api.patch<Job>(paths.job(id), { limits }),
    onSuccess: (job) => cache.setQueryData(jobKeys.one(id), job),
  })
}
