import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { live } from "@/lib/live"

const logout = () => api.post(paths.logout)

export function useLogout(leave: () => Promise<void>) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: logout,
    // First away from the pages, which go on asking: what they ask once nobody is signed in would look like a failure.
    onMutate: async () => {
      await leave()
      live.close()
      await cache.cancelQueries()
    },
    onSettled: () => cache.clear(),
  })
}
