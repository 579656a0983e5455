import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Covered, Items, RoleRule } from "@/lib/api-types"

/** What patterns cover now, in their order; those that cannot be read make the whole unknown. */
export const useCoverage = (rules: readonly RoleRule[]) => {
  const patterns = rules.map(({ kind, pattern }) => ({ kind, pattern }))
  return useQuery({
    queryKey: ["coverage", patterns],
    queryFn: ({ signal }) => api.ask<Items<Covered>>(paths.accessCoverage, { patterns }, signal),
    select: ({ items }) => items,
    enabled: patterns.length > 0,
    placeholderData: keepPreviousData,
  })
}
