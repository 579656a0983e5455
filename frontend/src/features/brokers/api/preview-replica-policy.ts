import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaChange, ReplicaPolicy } from "@/lib/api-types"

/** What the controller would do; nothing is changed. */
export const usePreviewPolicy = (cluster: string, broker: string) =>
  useMutation({
    mutationFn: (policy: ReplicaPolicy) => api.patch<ReplicaChange>(paths.replicaPolicy(cluster, broker), policy, { query: { dry_run: true } }),
  })
