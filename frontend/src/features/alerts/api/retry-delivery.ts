import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useAlertChange } from "./use-alert-change"

export const useRetryDelivery = (id: string) => useAlertChange(() => api.post(paths.deliveryRetry(id)))
