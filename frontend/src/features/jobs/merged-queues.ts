import type { Topic } from "@/lib/api-types"
import type { ReplayRequest } from "./request"

/** How many queues a replay reads, and into how many it sends, where several of the source must share one of the target; null where each has its own, or nobody knows. */
export function mergedQueues({ source: asked, target: { kind, order } }: ReplayRequest, source: Topic | undefined, target: Topic | undefined): { from: number; to: number } | null {
  // With order by key it is the key that decides.
  if (!source || !target || kind === "parquet" || order === "key") return null
  const from = Math.min(source.total_read_queues, askedQueues(asked, source))
  const to = target.total_write_queues
  // A target without a queue is refused.
  return to > 0 && from > to ? { from, to } : null
}

/** A number names a queue of each broker, unless the broker stands with it. */
function askedQueues({ queues, offsets }: ReplayRequest["source"], { brokers }: Topic): number {
  if (offsets) return new Set(offsets.map(({ broker = "", queue }) => `${broker}/${queue}`)).size
  return queues ? new Set(queues).size * Math.max(1, brokers.length) : Number.POSITIVE_INFINITY
}
