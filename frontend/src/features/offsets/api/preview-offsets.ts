import { useMutation } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OffsetPlan, OffsetPreview } from "@/lib/api-types"

/** Changes nothing: what is asked here is kept as a plan for five minutes. */
export const usePreviewOffsets = (cluster: string, group: string) =>
  useMutation({ mutationFn: (wanted: OffsetPreview) => api.post<OffsetPlan>(paths.offsetsPreview(cluster, group), wanted) })
