import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Alert, Page } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

/** The alerts that are shown with this word, all open ones without it; of one cluster, or of all. */
export const useAlerts = (state: string | undefined, cluster?: string) =>
  useQuery({
    queryKey: alertKeys.alerts(state, cluster),
    queryFn: ({ signal }) => api.get<Page<Alert>>(paths.alerts, { state, cluster, limit: 200 }, signal),
    refetchInterval: ASK_EVERY_MS,
  })
