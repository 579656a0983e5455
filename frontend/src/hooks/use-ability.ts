import { useQuery } from "@tanstack/react-query"
import { useTranslation } from "react-i18next"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Ability, ClusterDetail } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

const getCluster = (cluster: string, signal: AbortSignal) => api.get<ClusterDetail>(paths.cluster(cluster), undefined, signal)

/** A cluster with what its brokers say that they can do. */
export const useClusterDetail = (cluster: string) =>
  useQuery({
    queryKey: ["clusters", cluster, "detail"],
    queryFn: ({ signal }) => getCluster(cluster, signal),
    refetchInterval: 30_000,
  })

export type AbilityName = Ability["name"]

export const ABILITIES: readonly AbilityName[] = [
  "lease", "batch_ack", "timer", "scheduled", "transaction", "sql", "index", "message_type", "producers", "replicas",
]

/** What it means that an ability is missing, limited or not known; null where nothing is lacking. */
export function useLacking(): (ability: Ability) => string | null {
  const { t } = useTranslation()
  return ({ name, state, value, reason }) => {
    if (state === "yes") return null
    if (state === "unknown") return t("abilities.unknown", { reason: reason ? reasonIn(t, reason) : t("states.unknown") })
    if (state === "no") return t(`abilities.lacking.${name}`)
    return name === "timer" ? t("abilities.levels", { n: value ?? "" }) : t("abilities.partly")
  }
}

/** For what needs an ability: whether the cluster lacks it, or has it only in part, for certain. */
export function useAbility(cluster: string, name: AbilityName): { isLacking: boolean; isLimited: boolean } {
  const state = useClusterDetail(cluster).data?.capabilities.find((each) => each.name === name)?.state
  return { isLacking: state === "no", isLimited: state === "no" || state === "partly" }
}
