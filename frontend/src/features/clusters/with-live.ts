import type { Cluster, Overview } from "@/lib/api-types"

/** The list is read now and then; whether the brokers of the present cluster answer is known each second. */
export function withLive(cluster: Cluster, live: Overview | undefined): Cluster {
  if (!live || (live.brokers.length === 0 && live.unknown_reason === null)) return cluster
  if (live.brokers_answering > 0) return { ...cluster, reachable: true, reason: null }
  const reason = live.unknown_reason ?? live.brokers.find((broker) => broker.reason)?.reason ?? null
  return { ...cluster, reachable: false, version: null, reason }
}
