import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { DeadLetterGroup, DeadLetterGroups } from "@/lib/api-types"
import { deadLetterKeys } from "./keys"

const MOST_GROUPS = 50
const POLL_MS = 10_000

/** The line of one group. */
export const useDeadLettersOf = (cluster: string, group: string) =>
  useQuery({
    queryKey: [...deadLetterKeys.groups(cluster), group],
    queryFn: ({ signal }) => api.get<DeadLetterGroup>(paths.deadLettersOf(cluster, group), undefined, signal),
    refetchInterval: POLL_MS,
  })

/** The groups that have dead letters, the one with the newest first. */
export const useDeadLetterGroups = (cluster: string) =>
  useQuery({
    queryKey: deadLetterKeys.groups(cluster),
    queryFn: ({ signal }) => api.get<DeadLetterGroups>(paths.deadLetters(cluster), { sort: "-last_at", limit: MOST_GROUPS }, signal),
    refetchInterval: POLL_MS,
  })
