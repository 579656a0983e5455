import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, asShownBy } from "@/lib/api-client"
import type { BulkTopics, BulkWish } from "@/lib/api-types"
import { topicKeys } from "./keys"
import { previewPath } from "./preview-bulk"

/** Deletes or changes many topics, as they were when the preview was read. */
export function useApplyBulk(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ action, body }: BulkWish) =>
      api.post<BulkTopics>(paths.topicsBulk(cluster, action), body, asShownBy(previewPath(cluster, action))),
    onSettled: () => {
      void cache.invalidateQueries({ queryKey: ["topics-bulk", cluster] })
      void cache.invalidateQueries({ queryKey: topicKeys.all(cluster) })
    },
  })
}
