import { useMutation, useQueryClient } from "@tanstack/react-query"
import { accountKeys } from "./keys"

/** A change of the roles, after which they are read again. */
export function useRoleChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => Promise.all([accountKeys.roles, accountKeys.answers].map((queryKey) => cache.invalidateQueries({ queryKey }))) })
}
