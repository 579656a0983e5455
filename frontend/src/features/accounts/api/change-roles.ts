import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Role, RoleInput, RoleRule } from "@/lib/api-types"
import { accountKeys } from "./keys"

function useRoleChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.roles }) })
}

export const useCreateRole = () => useRoleChange((input: RoleInput) => api.post<Role>(paths.roles, input))
export const useUpdateRole = (name: string) => useRoleChange((rules: RoleRule[]) => api.patch<Role>(paths.role(name), { rules }))
export const useDeleteRole = () => useRoleChange((name: string) => api.delete(paths.role(name)))
