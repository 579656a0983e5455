import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { Topic } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** One topic; nothing is asked while it is not chosen yet. */
export const useTopic = (cluster: string, topic = "") =>
  useQuery({
    queryKey: topicKeys.one(cluster, topic),
    queryFn: ({ signal }) => api.get<Topic>(paths.topic(cluster, topic), undefined, signal),
    refetchInterval: POLL_MS,
    enabled: topic !== "",
  })
