import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { AlertChannel, Page } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

export const useAlertChannels = () =>
  useQuery({
    queryKey: alertKeys.channels,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<AlertChannel>>(paths.alertChannels, { limit: 500 }, signal)
      keepTags(page.items, ({ id }) => paths.alertChannel(id))
      return page
    },
    select: ({ items }) => items,
    refetchInterval: ASK_EVERY_MS,
  })
