import { useMutation, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicChanged, TopicInput } from "@/lib/api-types"
import { topicKeys } from "./keys"

export function useCreateTopic(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: TopicInput) => api.post<TopicChanged>(paths.topics(cluster), input),
    onSuccess: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}
