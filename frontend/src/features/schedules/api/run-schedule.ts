import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useScheduleChange } from "./use-schedule-change"

export const useRunNow = (id: string) => useScheduleChange(() => api.post(paths.scheduleRunNow(id)))
