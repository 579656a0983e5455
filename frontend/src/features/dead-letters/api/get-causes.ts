import { queryOptions, useQueries } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { DeadLetterCauses } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

const POLL_MS = 15_000

const causesOf = (cluster: string, group: string) =>
  queryOptions({
    queryKey: deadLetterKeys.causes(cluster, group),
    queryFn: ({ signal }) => api.get<DeadLetterCauses>(paths.deadLetterCauses(cluster, group), undefined, signal),
  })

/** The causes of each of these groups, in their order. */
export const useCauses = (cluster: string, groups: readonly string[]) =>
  useQueries({ queries: groups.map((group) => ({ ...causesOf(cluster, group), refetchInterval: POLL_MS })) })

/** The same as far as somebody else reads them; asks for nothing itself. */
export const useKnownCauses = (cluster: string, groups: readonly string[]) =>
  useQueries({ queries: groups.map((group) => ({ ...causesOf(cluster, group), enabled: false })), combine: (found) => found.map(({ data }) => data) })
