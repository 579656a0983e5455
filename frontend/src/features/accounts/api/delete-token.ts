import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { accountKeys } from "./keys"

export function useDeleteToken() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (id: number) => api.delete(paths.token(id)),
    onSuccess: () => cache.invalidateQueries({ queryKey: accountKeys.tokens }),
  })
}
