import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Alert } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

export const useAlert = (id: string) =>
  useQuery({
    queryKey: alertKeys.alert(id),
    queryFn: ({ signal }) => api.get<Alert>(paths.alert(id), undefined, signal),
    refetchInterval: ASK_EVERY_MS,
  })
