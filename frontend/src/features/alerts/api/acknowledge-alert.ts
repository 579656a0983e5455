import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Alert } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useAcknowledge = (id: string) => useAlertChange((note: string) => api.post<Alert>(paths.alertAcknowledge(id), { note }))
