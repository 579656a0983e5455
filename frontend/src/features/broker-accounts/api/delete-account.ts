import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { PartlyDeleted } from "@/lib/api-types"
import { accountKeys } from "./keys"

export function useDeleteAccount(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (key: string) => api.delete<PartlyDeleted | undefined>(paths.brokerAccount(cluster, key)),
    onSettled: () => cache.invalidateQueries({ queryKey: accountKeys.all(cluster) }),
  })
}
