import { useMutation, useQueryClient } from "@tanstack/react-query"
import { transactionKeys } from "./keys"

/** A change of a hook; also when it was refused, all is read again. */
export function useHookChange<T, R>(change: (input: T) => Promise<R>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: transactionKeys.all }) })
}
