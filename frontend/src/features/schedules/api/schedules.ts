import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Page, Schedule, ScheduleInput } from "@/lib/api-types"

const scheduleKeys = { all: ["schedules"] as const }

export const useSchedules = () =>
  useQuery({
    queryKey: scheduleKeys.all,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<Schedule>>(paths.schedules, undefined, signal)
      keepTags(page.items, ({ id }) => paths.schedule(id))
      return page
    },
    select: ({ items }) => items,
    refetchInterval: 15_000,
  })

function useScheduleChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: scheduleKeys.all }) })
}

export const useCreateSchedule = () => useScheduleChange((input: ScheduleInput) => api.post<Schedule>(paths.schedules, input))

export const useEnableSchedule = (id: string) =>
  useScheduleChange((enabled: boolean) => api.patch<Schedule>(paths.schedule(id), { enabled }))

export const useDeleteSchedule = (id: string) => useScheduleChange(() => api.delete(paths.schedule(id)))

export const useRunNow = (id: string) => useScheduleChange(() => api.post(paths.scheduleRunNow(id)))
