import { useQueries } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Group } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

const POLL_MS = 10_000

/** How many native clients each group has; null if a broker does not say, undefined while it is being asked. */
export const useNativeClients = (cluster: string, groups: readonly string[]): (number | null | undefined)[] =>
  useQueries({
    queries: groups.map((group) => ({
      queryKey: deadLetterKeys.clients(cluster, group),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.get<Group>(paths.group(cluster, group), undefined, signal),
      refetchInterval: POLL_MS,
      retry: false,
    })),
    // Whether a group can be asked is shown elsewhere; here its clients are unknown.
    combine: (found) => found.map(({ data, isError }) => (isError ? null : data?.clients)),
  })
