import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useScheduleChange } from "./use-schedule-change"

export const useDeleteSchedule = (id: string) => useScheduleChange(() => api.delete(paths.schedule(id)))
