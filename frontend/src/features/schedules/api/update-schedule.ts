import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Schedule } from "@/lib/api-types"
import { useScheduleChange } from "./use-schedule-change"

export const useEnableSchedule = (id: string) =>
  useScheduleChange((enabled: boolean) => api.patch<Schedule>(paths.schedule(id), { enabled }))
