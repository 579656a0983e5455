import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { SettingsChanged } from "@/lib/api-types"

/** Changes settings of the version that was read; the answer is read back from the broker. */
export function useUpdateSettings(cluster: string, broker: string, id = 0) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (settings: Record<string, string>) =>
      api.patch<SettingsChanged>(paths.brokerSettings(cluster, broker, id), { settings }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["clusters", cluster] }),
  })
}
