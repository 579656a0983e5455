import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Page, ScheduleRun } from "@/lib/api-types"
import { scheduleKeys } from "./keys"

const POLL_MS = 15_000
const NEWEST = 100

/** The newest runs of a schedule, with the times that started none. */
export const useScheduleRuns = (id: string) =>
  useQuery({
    queryKey: [...scheduleKeys.all, id, "runs"],
    queryFn: ({ signal }) => api.get<Page<ScheduleRun>>(paths.scheduleRuns(id), { limit: NEWEST }, signal),
    refetchInterval: POLL_MS,
  })
