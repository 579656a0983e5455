import { paths } from "@/config/paths"
import { withQuery } from "@/lib/api-client"

/** One that is heard is removed only where somebody says so: it may be the wrong one. */
export type ReplicaAction = "promote" | "remove" | "remove-living" | "accept-loss"

export interface ReplicaTarget {
  cluster: string
  broker: string
  replica: number
  action: ReplicaAction
}

/** The address of the change, of which `how` says whether it is previewed or made by its plan. */
export function addressOf({ cluster, broker, replica, action }: ReplicaTarget, how: { dry_run: true } | { plan: string }): string {
  if (action === "remove-living") return withQuery(paths.replicaAction(cluster, broker, replica, "remove"), { living: true, ...how })
  return withQuery(paths.replicaAction(cluster, broker, replica, action), how)
}
