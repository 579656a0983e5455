import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ScheduleOutcome } from "@/lib/api-types"
import { scheduledKeys } from "./keys"

/** Gives a message another time; one that has passed means at once. */
export function useReschedule(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ id, at }: { id: string; at: string }) => api.patch<ScheduleOutcome>(paths.scheduledMessage(cluster, id), { deliver_at: at }),
    onSettled: () => cache.invalidateQueries({ queryKey: scheduledKeys.all }),
  })
}
