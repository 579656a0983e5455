import type { Cluster, Overview } from "@/lib/api-types"

/** The list is read now and then; whether the brokers of the present cluster answer is known each second. */
export function withLive(cluster: Cluster, live: Overview | undefined): Cluster {
  if (!live || (live.brokers.length === 0 && live.unknown_reason === null)) return cluster
  const isListed = live.brokers.length > 0 || live.name_server_reason === null
  const counts = isListed ? { brokers: live.brokers.length, brokers_answering: live.brokers_answering } : { brokers: null, brokers_answering: null }
  if (live.brokers_answering > 0) return { ...cluster, ...counts, reachable: true, reason: live.name_server_reason ?? live.unknown_reason }
  const reason = live.unknown_reason ?? live.brokers.find((broker) => broker.reason)?.reason ?? null
  return { ...cluster, ...counts, reachable: false, version: null, reason }
}
