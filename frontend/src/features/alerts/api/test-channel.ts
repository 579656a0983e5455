import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AlertDelivery } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useTestChannel = (id: string) => useAlertChange(() => api.post<AlertDelivery>(paths.alertChannelTest(id)))
