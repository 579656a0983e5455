import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { AuditPage } from "@/lib/api-types"

export interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  resource?: string | undefined
  address?: string | undefined
  result?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Words that are somewhere in the record. */
  q?: string | undefined
}

const getAudit = (filter: AuditFilter, cursor: string | null, limit: number, signal: AbortSignal) =>
  api.get<AuditPage>(paths.audit, { ...filter, cursor, limit }, signal)

/** The records that a filter finds; none are asked for with null. */
export const useAudit = (filter: AuditFilter | null) =>
  useInfiniteQuery({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam, signal }) => getAudit(filter ?? {}, pageParam, 50, signal),
    enabled: filter !== null,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

const SHOWN = 4

/** A cluster or another resource with all that is below it, for the filter of the audit. */
export const allOf = (resource: string): string => `${resource}/*`

/** What was changed last in a cluster. */
export const useRecentChanges = (cluster: string, isAllowed: boolean) =>
  useQuery({
    queryKey: ["audit", "recent", cluster],
    queryFn: ({ signal }) => getAudit({ resource: allOf(cluster) }, null, SHOWN, signal),
    select: ({ items }) => items,
    refetchInterval: 30_000,
    enabled: isAllowed,
  })

const MOST_OF_ONE = 20

/** The changes of one resource and of what is below it, the newest first. */
export const useChangesOf = (resource: string, isAllowed: boolean) =>
  useQuery({
    queryKey: ["audit", "of", resource],
    queryFn: ({ signal }) => getAudit({ resource: allOf(resource) }, null, MOST_OF_ONE, signal),
    select: ({ items }) => items,
    refetchInterval: 30_000,
    enabled: isAllowed,
  })
