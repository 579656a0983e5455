import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupSummary, Items } from "@/lib/api-types"

/** The groups that read a topic, as the list of their names; undefined where that is not known, or nobody may know it. */
export const useTargetGroups = (cluster: string, topic: string) =>
  useQuery({
    queryKey: ["topics", cluster, "one", topic, "groups"],
    queryFn: ({ signal }) => api.get<Items<GroupSummary>>(paths.topicGroups(cluster, topic), undefined, signal),
    select: ({ items }) => items.map(({ name }) => name),
    retry: false,
  }).data
