import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Cluster, Page } from "@/lib/api-types"

const getClusters = (signal: AbortSignal) => api.get<Page<Cluster>>(paths.clusters, undefined, signal)

export const useClusters = () =>
  useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => getClusters(signal),
    staleTime: 30_000,
    refetchInterval: 30_000,
    select: ({ items }) => items,
  })
