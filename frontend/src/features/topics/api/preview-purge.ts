import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api, withQuery } from "@/lib/api-client"
import type { TopicPurge } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** What a purge of all that is stored now would take. */
export const usePurgePreview = (cluster: string, topic: string) =>
  useQuery({
    queryKey: [...topicKeys.part(cluster, topic, "purge")],
    queryFn: ({ signal }) => api.ask<TopicPurge>(withQuery(paths.topicPurge(cluster, topic), { dry_run: true }), {}, signal),
    staleTime: 0,
    refetchOnWindowFocus: false,
  })
