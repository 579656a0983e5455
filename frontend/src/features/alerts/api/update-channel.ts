import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AlertChannel } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useEnableChannel = (id: string) => useAlertChange((enabled: boolean) => api.patch<AlertChannel>(paths.alertChannel(id), { enabled }))
