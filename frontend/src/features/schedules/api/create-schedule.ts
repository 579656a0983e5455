import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Schedule, ScheduleInput } from "@/lib/api-types"
import { useScheduleChange } from "./use-schedule-change"

export const useCreateSchedule = () => useScheduleChange((input: ScheduleInput) => api.post<Schedule>(paths.schedules, input))
