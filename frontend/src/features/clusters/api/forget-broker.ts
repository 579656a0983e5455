import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"

/** Forgets a broker, or one process of its name. What it held is in many answers, so all of them are read again. */
export function useForgetBroker(cluster: string, broker: string, process: number | null = null) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete(paths.broker(cluster, broker, process)),
    // Not awaited: the row that asked may be gone by the time everything is read.
    onSuccess: () => void cache.invalidateQueries(),
  })
}
