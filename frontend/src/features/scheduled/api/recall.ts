import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduleOutcome } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

/** Takes a message back: it is never delivered. */
export function useRecall(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.delete<ScheduleOutcome>(paths.scheduledMessage(cluster, id)),
    onSettled: () => cache.invalidateQueries({ queryKey: scheduledKeys.all }),
  })
}
