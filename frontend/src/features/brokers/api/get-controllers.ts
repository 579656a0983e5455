import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Controllers } from "@/lib/api-types"

const key = (cluster: string) => ["clusters", cluster, "controllers"] as const

const getControllers = (cluster: string, signal: AbortSignal) => api.get<Controllers>(paths.controllers(cluster), undefined, signal)

/** The controllers of a cluster and what keeps their decisions, as the sampler tells them; asked again where it does not. */
export function useControllers(cluster: string) {
  const refetchInterval = useLiveQuery(subjects.controllers(cluster), key(cluster))
  return useQuery({ queryKey: key(cluster), queryFn: ({ signal }) => getControllers(cluster, signal), refetchInterval })
}
