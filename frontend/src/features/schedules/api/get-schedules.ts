import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Page, Schedule } from "@/lib/api-types"
import { scheduleKeys } from "./keys"

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
