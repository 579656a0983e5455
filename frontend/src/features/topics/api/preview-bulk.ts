import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, withQuery } from "@/lib/api-client"
import type { BulkTopics, BulkWish } from "@/lib/api-types"

export const previewPath = (cluster: string, action: BulkWish["action"]) => withQuery(paths.topicsBulk(cluster, action), { dry_run: true })

/** What a deletion or change of many topics would do to each. */
export const useBulkPreview = (cluster: string, { action, body }: BulkWish) =>
  useQuery({
    queryKey: ["topics-bulk", cluster, action, body],
    queryFn: ({ signal }) => api.ask<BulkTopics>(previewPath(cluster, action), body, signal),
    enabled: action === "delete" || Object.keys(body).length > 1,
    select: ({ items }) => items,
    staleTime: 0,
  })
