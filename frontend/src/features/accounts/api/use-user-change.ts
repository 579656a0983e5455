import { useMutation, useQueryClient } from "@tanstack/react-query"
import { accountKeys } from "./keys"

/** A change of the users; also when it was refused, they are read again. */
export function useUserChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => Promise.all([accountKeys.users, accountKeys.answers].map((queryKey) => cache.invalidateQueries({ queryKey }))) })
}
