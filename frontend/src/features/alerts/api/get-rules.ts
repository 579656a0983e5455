import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Rule, Page } from "@/lib/api-types"
import { ASK_EVERY_MS, alertKeys } from "./keys"

export const useAlertRules = () =>
  useQuery({
    queryKey: alertKeys.rules,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<Rule>>(paths.alertRules, { limit: 500 }, signal)
      keepTags(page.items, ({ id }) => paths.alertRule(id))
      return page
    },
    select: ({ items }) => items,
    refetchInterval: ASK_EVERY_MS,
  })
