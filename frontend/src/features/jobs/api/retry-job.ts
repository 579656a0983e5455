import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job } from "@/lib/api-types"
import { jobKeys } from "./keys"

export function useRetryJob(id: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<Job | undefined>(paths.jobRetry(id)),
    onSuccess: () => cache.invalidateQueries({ queryKey: jobKeys.all }),
  })
}
