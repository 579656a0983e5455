import { useQueries } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { DeadLetterCauses } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

const POLL_MS = 15_000

/** The causes of each of these groups, in their order. */
export const useCauses = (cluster: string, groups: readonly string[]) =>
  useQueries({
    queries: groups.map((group) => ({
      queryKey: deadLetterKeys.causes(cluster, group),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.get<DeadLetterCauses>(paths.deadLetterCauses(cluster, group), undefined, signal),
      refetchInterval: POLL_MS,
    })),
  })
