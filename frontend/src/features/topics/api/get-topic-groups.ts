import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupSummary, Items } from "@/lib/api-types"
import { topicKeys } from "./keys"

export const useTopicGroups = (cluster: string, topic = "") =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "groups"),
    queryFn: ({ signal }) => api.get<Items<GroupSummary>>(paths.topicGroups(cluster, topic), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
    enabled: topic !== "",
  })
