import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { live } from "@/lib/live"

const logout = () => api.post(paths.logout)

export function useLogout(leave: () => Promise<void>) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: logout,
    // What is still on its way would be refused, and look like a failure.
    onMutate: () => cache.cancelQueries(),
    onSettled: async () => {
      live.close()
      // First away from the pages that would ask again, then forget what they knew.
      await leave()
      cache.clear()
    },
  })
}
