import { useQuery } from "@tanstack/react-query"
import { useTranslation } from "react-i18next"
import { paths } from "@/config/paths"
import { subjects } from "@/config/subjects"
import { useLiveQuery } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Overview } from "@/lib/api-types"

export const overviewKey = (cluster: string) => ["clusters", cluster, "overview"] as const

const getOverview = (cluster: string, signal: AbortSignal) =>
  api.get<Overview>(paths.overview(cluster), undefined, signal)

/** The key figures of a cluster: first by HTTP, then from the live channel each second. */
export function useOverview(cluster: string) {
  const queryKey = overviewKey(cluster)
  const refetchInterval = useLiveQuery(subjects.overview(cluster), queryKey)
  return useQuery({ queryKey, queryFn: ({ signal }) => getOverview(cluster, signal), refetchInterval })
}

/** Why no broker answers; null while one does, while none is known, and before anything was read. */
export function useOutageReason(cluster: string): string | null {
  const overview = useOverview(cluster).data
  if (!overview || overview.brokers_answering > 0) return null
  return overview.unknown_reason ?? overview.missing[0]?.reason ?? overview.name_server_reason
}

/** Whether more than one broker is known; false before anything was read. */
export function useHasSeveralBrokers(cluster: string): boolean {
  const overview = useOverview(cluster).data
  return overview !== undefined && new Set([...overview.brokers.map(({ name }) => name), ...overview.missing.map(({ broker }) => broker)]).size > 1
}

/** Why it is not known which topics or groups there are; null where it is, and before anything was read. */
export function useUnknownReason(cluster: string, what: "topics" | "groups"): string | null {
  const { t } = useTranslation()
  const overview = useOverview(cluster).data
  if (!overview || overview[what] !== null) return null
  return overview.unknown_reason ?? overview.missing[0]?.reason ?? t("states.unknown")
}
