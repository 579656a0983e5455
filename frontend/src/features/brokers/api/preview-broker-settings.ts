import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { SettingsPreview } from "@/lib/api-types"

/** Checks a change against the broker; nothing is changed. */
export const usePreviewSettings = (cluster: string, broker: string, id = 0) =>
  useMutation({
    mutationFn: (settings: Record<string, string>) =>
      api.post<SettingsPreview>(paths.brokerSettingsPreview(cluster, broker, id), { settings }),
  })
