import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AlertChannel, AlertChannelInput } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useCreateChannel = () => useAlertChange((input: AlertChannelInput) => api.post<AlertChannel>(paths.alertChannels, input))
