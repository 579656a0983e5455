import { useGroupNames } from "@/features/groups/api/find-groups"
import type { Choices } from "@/features/jobs/components/side-fields"
import { useTopicNames } from "@/features/topics/api/find-topics"

/** What a side of a comparison can be chosen from, in its cluster. */
export const useSideChoices = (cluster: string): Choices => ({ topics: useTopicNames(cluster).data ?? [], groups: useGroupNames(cluster).data ?? [] })
