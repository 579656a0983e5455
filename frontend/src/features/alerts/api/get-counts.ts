import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AlertCounts } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

export const useAlertCounts = () =>
  useQuery({
    queryKey: alertKeys.counts,
    queryFn: ({ signal }) => api.get<AlertCounts>(paths.alertCounts, undefined, signal),
    refetchInterval: 2 * ASK_EVERY_MS,
  })
