import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { accountKeys } from "./keys"

/** Reads the accounts again when a broker goes or comes back: what it has may be other than what the rest has. */
export function useFreshAccounts(cluster: string, answering: string | undefined): void {
  const cache = useQueryClient()
  const before = useRef(answering)
  useEffect(() => {
    if (before.current !== undefined && answering !== before.current) void cache.invalidateQueries({ queryKey: accountKeys.all(cluster) })
    before.current = answering
  }, [answering, cache, cluster])
}
