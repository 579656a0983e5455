import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Failed } from "@/components/states/failed"
import type { GroupImpact as Impact } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useGroupImpact } from "../api/get-group-impact"

/** What the deletion of a group hits, in sentences; what is unknown is said to be. */
export function GroupImpact({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const impact = useGroupImpact(cluster, group)
  if (impact.error) return <Failed what={t("groupImpact.failed")} error={impact.error} retry={() => void impact.refetch()} />
  return impact.data && sentences(t, impact.data).map((words) => <p key={words}>{words}</p>)
}

const sentences = (t: TFunction, impact: Impact): string[] => [
  readers(t, impact),
  leases(t, impact),
  positions(t, impact),
  lag(t, impact),
  ...impact.kept.map(({ name: topic, messages: n, unknown_reason: reason }) =>
    n === null ? t("groupImpact.keptUnknown", { topic, reason: reason && reasonIn(t, reason) }) : t("groupImpact.kept", { topic, count: n, n: count(n) }),
  ),
].filter((words) => words !== "")

function readers(t: TFunction, { clients, lease_consumers: callers }: Impact): string {
  if (clients === null || callers === null) return t("groupImpact.readersUnknown")
  const n = clients + callers
  return n === 0 ? t("groupImpact.noReaders") : t("groupImpact.readers", { count: n, n: count(n) })
}

function leases(t: TFunction, { leases: n }: Impact): string {
  if (n === null) return t("groupImpact.leasesUnknown")
  return n === 0 ? "" : t("groupImpact.leases", { count: n, n: count(n) })
}

const positions = (t: TFunction, { topics }: Impact): string =>
  topics.length === 0 ? t("groupImpact.noPositions") : t("groupImpact.positions", { count: topics.length, topics: topics.join(t("list.comma")) })

function lag(t: TFunction, { lag: n, topics }: Impact): string {
  // Without a position nothing is behind.
  if (n === null) return topics.length === 0 ? "" : t("groupImpact.lagUnknown")
  return n === 0 ? "" : t("groupImpact.lag", { count: n, n: count(n) })
}
