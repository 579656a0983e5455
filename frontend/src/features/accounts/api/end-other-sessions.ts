import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { accountKeys } from "./keys"

export function useEndOtherSessions() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<{ ended: number }>(paths.endOtherSessions),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.sessions }),
  })
}
