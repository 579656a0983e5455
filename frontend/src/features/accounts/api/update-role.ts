import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Role, RoleRule } from "@/lib/api-types"
import { useRoleChange } from "./use-role-change"

export const useUpdateRole = (name: string) => useRoleChange((rules: RoleRule[]) => api.patch<Role>(paths.role(name), { rules }))
