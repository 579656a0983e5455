import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Schedule, ScheduleInput } from "@/lib/api-types"
import { useScheduleChange } from "./use-schedule-change"

export const useEnableSchedule = (id: string) =>
  useScheduleChange((enabled: boolean) => api.patch<Schedule>(paths.schedule(id), { enabled }))

/** Changes the schedule as somebody opened it: the list is read again while a form is open, and its newer tag is not what the form shows. */
export const useUpdateSchedule = (id: string, etag: string) =>
  useScheduleChange((changes: Partial<ScheduleInput>) => api.patch<Schedule>(paths.schedule(id), changes, { headers: { "If-Match": etag } }))
