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

/** The path of the change. */
export const pathOf = ({ cluster, broker, replica, action }: ReplicaTarget) =>
  action === "remove-living" ? withQuery(paths.replicaAction(cluster, broker, replica, "remove"), { living: true }) : paths.replicaAction(cluster, broker, replica, action)
