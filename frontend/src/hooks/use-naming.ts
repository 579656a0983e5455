import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Naming } from "@/lib/api-types"

/** How topics and groups may be called. It is a rule of the running version: asked for once. */
export const namingQuery = {
  queryKey: ["naming"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get<Naming>(paths.naming, undefined, signal),
  staleTime: Infinity,
} as const

interface NameRule {
  /** Whether the API may take the name; what it keeps for itself, it still refuses. True while the rule is not known. */
  fits: (name: string) => boolean
  maxLength: number | undefined
}

export function useNameRule(kind: "topic" | "group"): NameRule {
  const rule = useQuery(namingQuery).data?.[kind]
  return useMemo(() => {
    const pattern = rule && new RegExp(rule.pattern)
    return { fits: (name) => name !== "" && (pattern?.test(name) ?? true), maxLength: rule?.max_length }
  }, [rule])
}
