import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { accountKeys } from "./keys"

export function useEndSession(everybody: boolean) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.delete(everybody ? paths.session(id) : paths.mySession(id)),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.sessions }),
  })
}
