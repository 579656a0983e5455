import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

/** What the broker held is in many answers, so all of them are read again. */
export function useForgetBroker(cluster: string, broker: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete(paths.broker(cluster, broker)),
    // Not awaited: the row that asked may be gone by the time everything is read.
    onSuccess: () => void cache.invalidateQueries(),
  })
}
