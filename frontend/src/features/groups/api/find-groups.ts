import { useQuery } from "@tanstack/react-query"
import { MOST_NAMES } from "@/components/forms/name-picker"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { GroupSummary, Page } from "@/lib/api-types"
import { bestFirst } from "@/lib/best-first"

const FOUND = 100
const SHOWN = 6

const findGroups = (cluster: string, search: string, limit: number, signal: AbortSignal) =>
  api.get<Page<GroupSummary>>(paths.groups(cluster), { search, limit, sort: "name" }, signal)

/** A few groups whose name contains the words, the very name first; nothing for no words. */
export const useFoundGroups = (cluster: string, search: string) =>
  useQuery({
    queryKey: ["groups", cluster, "found", search],
    queryFn: ({ signal }) => findGroups(cluster, search, FOUND, signal),
    enabled: search.length > 0,
    select: ({ items }) => bestFirst(items, search, ({ name }) => name).slice(0, SHOWN),
  })

/** Group names for a choice field. */
export const useGroupNames = (cluster: string) =>
  useQuery({
    queryKey: ["groups", cluster, "names"],
    queryFn: ({ signal }) => findGroups(cluster, "", MOST_NAMES, signal),
    select: ({ items }) => items.map(({ name }) => name),
    staleTime: 10_000,
  })
