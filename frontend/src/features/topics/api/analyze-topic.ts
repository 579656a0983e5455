import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { TopicAnalysis } from "@/lib/api-types"

/** Sizes, keys and tags of the newest messages; read when asked for, not again by itself. */
export const useTopicAnalysis = (cluster: string, topic: string, sample: number) =>
  useQuery({
    queryKey: ["topic-analysis", cluster, topic, sample],
    queryFn: ({ signal }) => api.ask<TopicAnalysis>(paths.topicAnalyze(cluster, topic), { sample }, signal),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
