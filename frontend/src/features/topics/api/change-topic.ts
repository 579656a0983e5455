import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { PartlyDeleted, TopicChange, TopicChanged, TopicImpact, TopicInput } from "@/lib/api-types"
import { topicKeys } from "./keys"

export function useCreateTopic(cluster: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (input: TopicInput) => api.post<TopicChanged>(paths.topics(cluster), input),
    onSuccess: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}

export function useUpdateTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (change: TopicChange) => api.patch<TopicChanged>(paths.topic(cluster, topic), change),
    // Also when it was refused: it may have changed meanwhile.
    onSettled: () => cache.invalidateQueries({ queryKey: topicKeys.all(cluster) }),
  })
}

/** What a deletion would take with it. */
export const useTopicDeletion = (cluster: string, topic: string, isWanted: boolean) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "deletion"),
    queryFn: () => api.delete<TopicImpact>(paths.topic(cluster, topic), { dry_run: true }),
    enabled: isWanted,
    staleTime: 0,
  })

export function useDeleteTopic(cluster: string, topic: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => api.delete<PartlyDeleted | undefined>(paths.topic(cluster, topic)),
    onSuccess: () => cache.invalidateQueries({ queryKey: topicKeys.lists(cluster) }),
    onError: () => cache.invalidateQueries({ queryKey: topicKeys.one(cluster, topic) }),
  })
}
