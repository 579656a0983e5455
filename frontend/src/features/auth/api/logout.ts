import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import { live } from "@/lib/live"

const logout = () => api.post(paths.logout)

export function useLogout() {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: logout,
    onSettled: () => {
      live.close()
      cache.clear()
    },
  })
}
