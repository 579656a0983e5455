import { useMutation, useQueryClient } from "@tanstack/react-query"
import { api } from "@/lib/api-client"
import type { ReplicaChange } from "@/lib/api-types"
import { pathOf, type ReplicaTarget } from "../replica-target"

/** Makes the change; the controller decides by what is so then. */
export function useChangeReplica(target: ReplicaTarget) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<ReplicaChange>(pathOf(target), {}),
    onSettled: () => cache.invalidateQueries({ queryKey: ["clusters", target.cluster] }),
  })
}
