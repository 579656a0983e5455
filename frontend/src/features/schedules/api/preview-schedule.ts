import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { NextRuns, SchedulePreview } from "@/lib/api-types"

/** When a line would be due; refused with the field it is wrong in. */
export const previewSchedule = (line: SchedulePreview, signal: AbortSignal) =>
  api.post<NextRuns>(paths.schedulePreview, line, { signal })
