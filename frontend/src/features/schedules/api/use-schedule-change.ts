import { useMutation, useQueryClient } from "@tanstack/react-query"
import { scheduleKeys } from "./keys"

/** A change of the schedules; also when it was refused, they are read again. */
export function useScheduleChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: scheduleKeys.all }) })
}
