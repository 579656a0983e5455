import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Schedule, ScheduleInput } from "@/lib/api-types"
import { useScheduleChange } from "./use-schedule-change"

export const useEnableSchedule = (id: string) =>
  useScheduleChange((enabled: boolean) => api.patch<Schedule>(paths.schedule(id), { enabled }))

export const useUpdateSchedule = (id: string) => useScheduleChange((changes: Partial<ScheduleInput>) => api.patch<Schedule>(paths.schedule(id), changes))
