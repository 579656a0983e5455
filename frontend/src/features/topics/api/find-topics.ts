import { useQuery } from "@tanstack/react-query"
import { MOST_NAMES } from "@/components/forms/name-picker"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Page, TopicSummary } from "@/lib/api-types"
import { bestFirst } from "@/lib/best-first"

const findTopics = (cluster: string, search: string, limit: number, signal: AbortSignal) =>
  api.get<Page<TopicSummary>>(paths.topics(cluster), { search, limit, sort: "name" }, signal)

const FOUND = 100
const SHOWN = 6

/** A few topics whose name contains the words, the very name first; nothing for no words. */
export const useFoundTopics = (cluster: string, search: string) =>
  useQuery({
    queryKey: ["topics", cluster, "found", search],
    queryFn: ({ signal }) => findTopics(cluster, search, FOUND, signal),
    enabled: search.length > 0,
    select: ({ items }) => bestFirst(items, search, ({ name }) => name).slice(0, SHOWN),
  })

/** Topic names for a choice field. */
export const useTopicNames = (cluster: string) =>
  useQuery({
    queryKey: ["topics", cluster, "names"],
    queryFn: ({ signal }) => findTopics(cluster, "", MOST_NAMES, signal),
    select: ({ items }) => items.map(({ name }) => name),
    staleTime: 10_000,
  })

/** The first topics of the cluster, to see whether there are any. */
export const fewTopicsQuery = (cluster: string) => ({
  queryKey: ["topics", cluster, "few"],
  queryFn: ({ signal }: { signal: AbortSignal }) => findTopics(cluster, "", 2, signal),
})
