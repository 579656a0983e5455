import { useSearch } from "@tanstack/react-router"

export const LOCAL_CLUSTER = "local"

/** The cluster of the address; the embedded one when the address names none. */
export function useCluster(): string {
  return useSearch({ strict: false }).cluster ?? LOCAL_CLUSTER
}
