import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, keepTags } from "@/lib/api-client"
import type { Page, User, UserInput } from "@/lib/api-types"

const KEY = ["users"] as const

export const ROLES = ["admin", "operator", "developer", "viewer"] as const

export const useUsers = (isAllowed: boolean) =>
  useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const page = await api.get<Page<User>>(paths.users, undefined, signal)
      keepTags(page.items, ({ id }) => paths.user(id))
      return page
    },
    select: ({ items }) => items,
    enabled: isAllowed,
  })

function useUserChange<T>(change: (input: T) => Promise<unknown>) {
  const cache = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => cache.invalidateQueries({ queryKey: KEY }) })
}

export const useCreateUser = () => useUserChange((input: UserInput) => api.post<User>(paths.users, input))
export const useDeleteUser = () => useUserChange((id: number) => api.delete(paths.user(id)))
export const useChangeRole = () => useUserChange(({ id, role }: { id: number; role: User["role"] }) => api.patch<User>(paths.user(id), { role }))

export const useResetPassword = () =>
  useUserChange(({ id, ...change }: { id: number; password: string; revoke_tokens: boolean }) => api.patch<User>(paths.user(id), change))

export const useChangePassword = () =>
  useMutation({ mutationFn: (input: { current: string; new: string }) => api.post(paths.password, input) })
