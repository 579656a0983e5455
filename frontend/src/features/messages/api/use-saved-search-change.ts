import { useMutation, useQueryClient } from "@tanstack/react-query"
import { savedSearchKey } from "./saved-search-keys"

/** A change of the saved searches, after which they are read again. */
export function useSavedSearchChange<T, R>(change: (input: T) => Promise<R>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: savedSearchKey }) })
}
