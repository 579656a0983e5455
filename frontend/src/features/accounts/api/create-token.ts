import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { NewToken, TokenInput } from "@/lib/api-types"
import { accountKeys } from "./keys"

/** The text of a token is in the answer to its creation, and nowhere else. */
export function useCreateToken() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: TokenInput) => api.post<NewToken>(paths.tokens, input),
    onSuccess: () => cache.invalidateQueries({ queryKey: accountKeys.tokens }),
  })
}
