import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { OffsetPlan, OffsetPreview, OffsetSnapshot } from "@/lib/api-types"
import { offsetKeys } from "./keys"

/** The way back from a change, as a change of its own; null if no queue had an offset before. */
export function wayBack({ topic, queues }: OffsetSnapshot): OffsetPreview | null {
  const offsets = queues.flatMap(({ broker, queue_id, before, done }) => (done !== false && before !== null ? { broker, queue_id, offset: before } : []))
  if (offsets.length === 0) return null
  return { topic, mode: "offset", offsets, queues: offsets.map(({ broker, queue_id }) => ({ broker, queue_id })) }
}

/** What the way back would do now; asked anew each time. */
export function useUndoPreview(cluster: string, group: string, snapshot: OffsetSnapshot) {
  const wish = wayBack(snapshot)
  return useQuery({
    queryKey: offsetKeys.undo(cluster, group, snapshot.snapshot_id),
    queryFn: ({ signal }) => api.ask<OffsetPlan>(paths.offsetsPreview(cluster, group), wish, signal),
    enabled: wish !== null,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
}
