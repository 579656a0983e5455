import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Silence, SilenceInput } from "@/lib/api-types"
import { useAlertChange } from "./use-alert-change"

export const useCreateSilence = () => useAlertChange((input: SilenceInput) => api.post<Silence>(paths.silences, input))
