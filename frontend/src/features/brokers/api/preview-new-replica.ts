import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { NewReplica } from "@/lib/api-types"

/** Where the process will listen; what is left out is not known yet. */
export interface Place {
  address?: string
  port?: number
}

/** What one more replica would be; nothing is changed. */
export const usePreviewNewReplica = (cluster: string, broker: string, place: Place) =>
  useQuery({
    queryKey: ["new-replica", cluster, broker, place],
    queryFn: ({ signal }) => api.get<NewReplica>(paths.newReplica(cluster, broker), { ...place }, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
