import { useTranslation } from "react-i18next"
import { QueryPanel } from "@/components/states/query-panel"
import { Time } from "@/components/values/time"
import type { PastDecision, Replicas } from "@/lib/api-types"
import { whyIn } from "@/lib/decisions"
import { useReplicaHistory } from "../api/get-replica-history"
import classes from "./replicas.module.css"

/** Who was master of a broker name, and who was in sync, the newest first. */
export function ReplicaTimeline({ cluster, of }: { cluster: string; of: Replicas }) {
  const { t } = useTranslation()
  const { broker, failover, told } = of
  const query = useReplicaHistory(cluster, broker, told ?? failover)
  return (
    <QueryPanel query={query} title={t("replicas.history.title")} note={t("replicas.history.note")} what={t("replicas.history.failed", { broker })}>
      {({ items }) => (
        <ol className={classes.timeline}>
          {items.map((each) => (
            <Decision key={`${each.epoch} ${each.version} ${each.at}`} of={each} />
          ))}
          {items.length === 0 && <li>{t("replicas.history.none")}</li>}
        </ol>
      )}
    </QueryPanel>
  )
}

function Decision({ of: { epoch, master_id: master, in_sync: set, added, removed, why, by, at, seen_at: seen } }: { of: PastDecision }) {
  const { t } = useTranslation()
  const ids = set.join(", ")
  // Why it was written last need not say who came or went since the decision before.
  const others = [added.length > 0 && !/ is (?:new|the first)$/.test(why) && t("replicas.history.added", { ids: added.join(", ") }), removed.length > 0 && !/ removed$/.test(why) && t("replicas.history.removed", { ids: removed.join(", ") })]
  return (
    <li data-leaderless={master === null || undefined}>
      <small>
        <Time at={at ?? seen} />
      </small>
      <span>
        {why.startsWith("adopted with ") ? t("replicas.history.adopted", { epoch, ids }) : master === null ? t("replicas.history.leaderless", { epoch, ids }) : t("replicas.history.led", { epoch, master, ids })}
        {others.map((words) => words && <small key={words}>{words}</small>)}
        <small>{t("replicas.decided", { why: whyIn(t, why), by })}</small>
      </span>
    </li>
  )
}
