import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Me } from "@/lib/api-types"

export type Right = "produce" | "consume" | "read" | "bodies" | "manage" | "offsets" | "redrive" | "delete" | "jobs" | "admin"

export const meQuery = {
  queryKey: ["me"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get<Me>(paths.me, undefined, signal),
  staleTime: 60_000,
  retry: false,
} as const

export const useMe = (): Me | undefined => useQuery(meQuery).data

/** Whether the one who is signed in may do this; false until it is known. */
export function useMay(right: Right): boolean {
  return useMe()?.rights.includes(right) ?? false
}
