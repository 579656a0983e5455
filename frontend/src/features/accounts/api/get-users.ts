import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Page, User } from "@/lib/api-types"
import { accountKeys } from "./keys"

export const useUsers = (isAllowed: boolean) =>
  useQuery({
    queryKey: accountKeys.users,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<User>>(paths.users, undefined, signal)
      keepTags(page.items, ({ id }) => paths.user(id))
      return page
    },
    select: ({ items }) => items,
    enabled: isAllowed,
  })
