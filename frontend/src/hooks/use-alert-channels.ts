import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { AlertChannel, Page } from "@/lib/api-types"

export const channelsKey = ["alerts", "channels"] as const

interface Asked {
  /** Ask again so often, where a page shows how they stand. */
  everyMs?: number
  isNeeded?: boolean
}

/** The alert channels of this Gantry. */
export const useAlertChannels = ({ everyMs, isNeeded = true }: Asked = {}) =>
  useQuery({
    queryKey: channelsKey,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<AlertChannel>>(paths.alertChannels, { limit: 500 }, signal)
      keepTags(page.items, ({ id }) => paths.alertChannel(id))
      return page
    },
    select: ({ items }) => items,
    enabled: isNeeded,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })
