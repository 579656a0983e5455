import { useQuery } from "@tanstack/react-query"
import { api } from "@/lib/api-client"
import type { ReplicaChange } from "@/lib/api-types"
import { addressOf, type ReplicaTarget } from "../replica-target"

/** What the controller would do; nothing is changed. */
export const usePreviewReplica = (target: ReplicaTarget) =>
  useQuery({
    queryKey: ["replica-preview", target.cluster, target.broker, target.action, target.replica],
    queryFn: ({ signal }) => api.ask<ReplicaChange>(addressOf(target, { dry_run: true }), {}, signal),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
