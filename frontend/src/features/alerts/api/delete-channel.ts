import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useAlertChange } from "./use-alert-change"

export const useDeleteChannel = (id: string) => useAlertChange(() => api.delete(paths.alertChannel(id)))
