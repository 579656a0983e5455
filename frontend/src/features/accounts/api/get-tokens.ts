import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Page, Token } from "@/lib/api-types"
import { accountKeys } from "./keys"

export const useTokens = () =>
  useQuery({
    queryKey: accountKeys.tokens,
    queryFn: ({ signal }) => api.get<Page<Token>>(paths.tokens, undefined, signal),
    select: ({ items }) => items,
  })
