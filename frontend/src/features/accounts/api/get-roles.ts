import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { RoleList } from "@/lib/api-types"
import { accountKeys } from "./keys"

export const useRoles = (isAllowed: boolean) =>
  useQuery({
    queryKey: accountKeys.roles,
    queryFn: async ({ signal }) => {
      const list = await api.get<RoleList>(paths.roles, undefined, signal)
      keepTags(list.items, ({ name }) => paths.role(name))
      return list
    },
    enabled: isAllowed,
  })
