import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Role, RoleInput } from "@/lib/api-types"
import { useRoleChange } from "./use-role-change"

export const useCreateRole = () => useRoleChange((input: RoleInput) => api.post<Role>(paths.roles, input))
