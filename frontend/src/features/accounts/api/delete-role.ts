import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { useRoleChange } from "./use-role-change"

export const useDeleteRole = () => useRoleChange((name: string) => api.delete(paths.role(name)))
