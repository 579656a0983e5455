import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { NewToken, Page, Token, TokenInput } from "@/lib/api-types"

const KEY = ["tokens"] as const

export const useTokens = () =>
  useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.get<Page<Token>>(paths.tokens, undefined, signal),
    select: ({ items }) => items,
  })

/** The text of a token is in the answer to its creation, and nowhere else. */
export function useCreateToken() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: TokenInput) => api.post<NewToken>(paths.tokens, input),
    onSuccess: () => cache.invalidateQueries({ queryKey: KEY }),
  })
}

export function useDeleteToken() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: number) => api.delete(paths.token(id)),
    onSuccess: () => cache.invalidateQueries({ queryKey: KEY }),
  })
}
