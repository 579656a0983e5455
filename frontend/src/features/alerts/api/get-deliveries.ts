import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AlertDelivery, Page } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

interface DeliveryFilter {
  alert?: string
  state?: string | undefined
}

export const useDeliveries = (filter: DeliveryFilter) =>
  useQuery({
    queryKey: alertKeys.deliveries(filter),
    queryFn: ({ signal }) => api.get<Page<AlertDelivery>>(paths.deliveries, { ...filter, limit: 100 }, signal),
    select: ({ items }) => items,
    refetchInterval: ASK_EVERY_MS,
  })
