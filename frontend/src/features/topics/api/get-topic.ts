import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { POLL_MS } from "@/hooks/use-live"
import { api } from "@/lib/api-client"
import type { GroupSummary, Items, Topic, TopicProducer, TopicQueue } from "@/lib/api-types"
import { topicKeys } from "./keys"

/** One topic; nothing is asked while it is not chosen yet. */
export const useTopic = (cluster: string, topic = "") =>
  useQuery({
    queryKey: topicKeys.one(cluster, topic),
    queryFn: ({ signal }) => api.get<Topic>(paths.topic(cluster, topic), undefined, signal),
    refetchInterval: POLL_MS,
    enabled: topic !== "",
  })

export const useTopicQueues = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "queues"),
    queryFn: ({ signal }) => api.get<Items<TopicQueue>>(paths.topicQueues(cluster, topic), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })

export const useTopicGroups = (cluster: string, topic = "") =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "groups"),
    queryFn: ({ signal }) => api.get<Items<GroupSummary>>(paths.topicGroups(cluster, topic), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
    enabled: topic !== "",
  })

export const useTopicProducers = (cluster: string, topic: string) =>
  useQuery({
    queryKey: topicKeys.part(cluster, topic, "producers"),
    queryFn: ({ signal }) => api.get<Items<TopicProducer>>(paths.topicProducers(cluster, topic), undefined, signal),
    select: ({ items }) => items,
    refetchInterval: POLL_MS,
  })
