import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import type { NewReplica } from "@/lib/api-types"
import { bytes } from "@/lib/format"
import classes from "./replicas.module.css"

type Stage = NewReplica["before"]

/** Replicas, in-sync set and what sends bear: now, once it is started, and once it has the log; and what it costs. */
export function NewReplicaPlan({ plan }: { plan: NewReplica }) {
  const { t } = useTranslation()
  const stages = [plan.before, plan.started, plan.caught_up]
  const rows: [string, (stage: Stage) => string][] = [
    [t("replicas.title"), ({ replicas }) => replicas.join(", ")],
    [t("replicas.set"), ({ in_sync: set }) => set.join(", ")],
    [t("replicas.least"), ({ effective_min_in_sync: least }) => shown(least)],
    [t("replicas.add.failures"), ({ failures }) => shown(failures)],
  ]
  return (
    <>
      <table className={classes.plan}>
        <thead>
          <tr>
            <td />
            {[t("replicas.add.now"), t("replicas.add.started"), t("replicas.add.caughtUp")].map((head) => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, write]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {stages.map((stage, index) => (
                <td key={index} data-other={write(stage) !== write(plan.before) || undefined}>
                  {write(stage)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Costs plan={plan} t={t} />
    </>
  )
}

function Costs({ plan, t }: { plan: NewReplica; t: TFunction }) {
  const format = useFormat()
  const { replica_id: id, most_replicas: most, before, caught_up: then } = plan
  const isMore = before.effective_min_in_sync !== null && then.effective_min_in_sync !== null && then.effective_min_in_sync > before.effective_min_in_sync
  return (
    <ul className={classes.costs}>
      <li>{t("replicas.add.id", { id })}</li>
      <li>{copied(plan, t, format.duration)}</li>
      <li>{t("replicas.add.counts")}</li>
      {isMore && <li>{t("replicas.add.moreNeeded", { count: then.effective_min_in_sync ?? 0 })}</li>}
      <li>{most === null ? t("replicas.add.noMost") : t("replicas.add.most", { count: most })}</li>
    </ul>
  )
}

function copied({ master_id: master, copy_bytes: size, copy_bytes_per_second: rate }: NewReplica, t: TFunction, duration: (ms: number) => string): string {
  if (master === null) return t("replicas.add.waits")
  if (size === null) return t("replicas.add.copiesUnknown")
  const words = { bytes: bytes(size), master }
  // Below a second the limit says nothing.
  if (rate === null || size < rate) return t("replicas.add.copies", words)
  return t("replicas.add.copiesFor", { ...words, rate: bytes(rate), time: duration((size / rate) * 1000) })
}

const shown = (value: number | null) => (value === null ? "—" : String(value))
