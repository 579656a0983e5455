import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { meQuery } from "@/hooks/use-rights"
import { api } from "@/lib/api-client"
import type { Me } from "@/lib/api-types"

interface LoginInput {
  username: string
  password: string
}

/** The cookie for cross-site protection must be there before the first POST. */
async function login(input: LoginInput): Promise<Me> {
  await api.get(paths.csrf)
  return api.post<Me>(paths.login, input)
}

export function useLogin() {
  const cache = useQueryClient()
  return useMutation({ mutationFn: login, onSuccess: (me) => cache.setQueryData(meQuery.queryKey, me) })
}
