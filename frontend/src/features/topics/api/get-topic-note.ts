import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicNote } from "@/lib/api-types"
import { topicKeys } from "./keys"

export const useTopicNote = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "note"),
    queryFn: ({ signal }) => api.get<TopicNote>(paths.topicNote(cluster, topic), undefined, signal),
  })
