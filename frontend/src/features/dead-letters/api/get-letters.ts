import { useInfiniteQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { DeadLetters } from "@/lib/api-types"
import type { Picked } from "../picks"
import { causeQuery } from "./cause-query"
import { deadLetterKeys } from "./keys"

const A_PAGE = 50

/** The dead letters of a group page by page; of one cause if just one is picked. */
export function useLetters(cluster: string, group: string, picked: Picked | undefined) {
  const filter = causeQuery(picked)
  return useInfiniteQuery({
    queryKey: deadLetterKeys.letters(cluster, group, JSON.stringify(filter)),
    queryFn: ({ pageParam, signal }) => api.get<DeadLetters>(paths.deadLetterMessages(cluster, group), { ...filter, limit: A_PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
}
