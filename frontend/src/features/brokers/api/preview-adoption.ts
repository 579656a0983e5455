import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { ReplicaChange } from "@/lib/api-types"
import type { Adoption } from "./adopt-state"

/** What the controller would do; nothing is changed. */
export const usePreviewAdoption = (cluster: string, broker: string) =>
  useMutation({
    mutationFn: (adoption: Adoption) => api.post<ReplicaChange>(paths.adoptReplicas(cluster, broker), adoption, { query: { dry_run: true } }),
  })
