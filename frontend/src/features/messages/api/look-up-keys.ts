import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { KeyLookup } from "@/lib/api-types"

export interface KeysLookup {
  /** Null: all topics. */
  topic: string | null
  keys: string[]
  from?: string | undefined
  to?: string | undefined
}

export const MOST_KEYS = 1_000

/** Asks the index files for many keys at once. */
export const useKeysLookup = (cluster: string, lookup: KeysLookup | null) =>
  useQuery({
    queryKey: ["messages", cluster, "keys", lookup],
    queryFn: ({ signal }) => api.ask<KeyLookup>(paths.messageSearch(cluster), lookup, signal),
    enabled: lookup !== null,
    staleTime: 30_000,
  })
