import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useAlertChange } from "./use-alert-change"

export const useUnacknowledge = (id: string) => useAlertChange(() => api.post(paths.alertUnacknowledge(id)))
