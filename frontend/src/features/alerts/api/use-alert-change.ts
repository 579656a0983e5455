import { useMutation, useQueryClient } from "@tanstack/react-query"
import { alertKeys } from "./keys"

/** A change of something about alerts; also when it was refused, all is read again. */
export function useAlertChange<T, R>(change: (input: T) => Promise<R>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: alertKeys.all }) })
}
