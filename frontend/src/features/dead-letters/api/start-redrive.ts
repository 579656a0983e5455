import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, RedriveAsked } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

/** Starts a job for each group, one after the other; the first refusal ends it, and what began goes on. */
export function useStartRedrives(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: async (asked: readonly [group: string, body: RedriveAsked][]) => {
      const jobs: Job[] = []
      for (const [group, body] of asked) jobs.push(await api.post<Job>(paths.deadLetterRedrive(cluster, group), body))
      return jobs
    },
    onSettled: () => cache.invalidateQueries({ queryKey: deadLetterKeys.all }),
  })
}

export function useCancelRedrive(id: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<Job | undefined>(paths.jobCancel(id)),
    onSettled: () => cache.invalidateQueries({ queryKey: deadLetterKeys.redrives }),
  })
}
