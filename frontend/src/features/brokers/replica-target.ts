import { paths } from "@/config/paths"

export type ReplicaAction = "promote" | "remove" | "accept-loss"

export interface ReplicaTarget {
  cluster: string
  broker: string
  replica: number
  action: ReplicaAction
}

/** The path of the change. */
export const pathOf = ({ cluster, broker, replica, action }: ReplicaTarget) => paths.replicaAction(cluster, broker, replica, action)
