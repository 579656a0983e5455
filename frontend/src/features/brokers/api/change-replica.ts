import { useMutation, useQueryClient } from "@tanstack/react-query"
import { api } from "@/lib/api-client"
import type { ReplicaChange } from "@/lib/api-types"
import { addressOf, type ReplicaTarget } from "../replica-target"

/** Makes the change as it was previewed; one whose preview is too old, or of another state, is refused. */
export function useChangeReplica(target: ReplicaTarget) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (plan: string) => api.post<ReplicaChange>(addressOf(target, { plan }), {}),
    onSettled: () => Promise.all([cache.invalidateQueries({ queryKey: ["clusters", target.cluster] }), cache.invalidateQueries({ queryKey: ["audit"] })]),
  })
}
