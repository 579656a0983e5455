import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Cluster, Page } from "@/lib/api-types"

const getClusters = (signal: AbortSignal) => api.get<Page<Cluster>>(paths.clusters, undefined, signal)

/** `freshMs`: how old, in milliseconds, what is shown of a cluster may get. */
export const useClusters = (freshMs = 30_000) =>
  useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => getClusters(signal),
    staleTime: freshMs,
    refetchInterval: freshMs,
    select: ({ items }) => items,
  })
