import { hashKey, useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduleOutcome } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

/** Takes a message back: it is never delivered. */
export function useRecall(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.delete<ScheduleOutcome>(paths.scheduledMessage(cluster, id)),
    onError: () => cache.invalidateQueries({ queryKey: scheduledKeys.all }),
    // The message itself is gone: its drawer, which closes now, would ask for it once more.
    onSuccess: (_, id) => {
      const gone = hashKey(scheduledKeys.message(cluster, id))
      return cache.invalidateQueries({ queryKey: scheduledKeys.all, predicate: ({ queryHash }) => queryHash !== gone })
    },
  })
}
