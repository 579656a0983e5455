import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { ReplicaChange } from "@/lib/api-types"
import { whyIn } from "@/lib/decisions"
import { bytes, count } from "@/lib/format"
import classes from "./replicas.module.css"

type Row = [name: string, now: string, then: string]

interface ChangePlanProps {
  plan: ReplicaChange
  /** So many replicas in sync sends need now; null while the master does not tell. */
  leastNow: number | null
}

/** The state before and after beside each other, and what the change costs. */
export function ChangePlan({ plan, leastNow }: ChangePlanProps) {
  const { t } = useTranslation()
  const { after, warnings } = plan
  const before = plan.told ?? plan.before
  return (
    <>
      <table className={classes.plan}>
        <thead>
          <tr>
            <td />
            <th>{t("replicas.now")}</th>
            <th>{t("replicas.after")}</th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(plan, leastNow, t).map(([name, now, then]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{now}</td>
              <td data-other={now !== then || undefined}>{then}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {after.master_id !== null && after.master_id !== before?.master_id && (
        <>
          <Lacks plan={plan} />
          {plan.keeps_acknowledged === false && <Loss bound={plan.loss} />}
          <Pauses plan={plan} />
        </>
      )}
      <Sends plan={plan} />
      {warnings.map((warning) => (
        <Callout key={warning}>{sentence(whyIn(t, warning))}</Callout>
      ))}
    </>
  )
}

function rowsOf({ before: kept, told, after, next_masters: next, effective_min_in_sync: least }: ReplicaChange, leastNow: number | null, t: TFunction): Row[] {
  const before = told ?? kept
  const isAdoption = after.master_id === null && next.length > 0
  const elected = next.join(t("replicas.or"))
  const row = (name: string, write: (state: typeof after) => string): Row => [name, before ? write(before) : "—", write(after)]
  // Where a setting of the brokers wants more, the policy alone says nothing of what sends need.
  const isPolicyAll = after.min_in_sync === least && (before === null || before.min_in_sync === leastNow)
  return [
    [t("replicas.master"), shown(before?.master_id ?? null), isAdoption ? t("replicas.longest", { count: next.length, ids: elected }) : shown(after.master_id)],
    // An election follows at once, with an epoch of its own.
    [t("replicas.epoch"), shown(before?.epoch ?? null), after.master_id === null ? t("replicas.epochFrom", { epoch: after.epoch }) : shown(after.epoch)],
    row(t("replicas.set"), (state) => state.in_sync.join(", ")),
    row(t("replicas.title"), (state) => state.replicas.join(", ")),
    [t("replicas.least"), shown(leastNow), shown(least)],
    ...(isPolicyAll ? [] : [row(t("replicas.leastByPolicy"), (state) => shown(state.min_in_sync))]),
    row(t("replicas.uncleanElected"), (state) => t(state.unclean_allowed ? "replicas.yes" : "replicas.no")),
  ]
}

/** Whether sends go on after it, and how much more they bear. */
function Sends({ plan: { after, refuses_sends: refuses, effective_min_in_sync: least } }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  if (refuses === null) return <Callout>{t("replicas.refusesUnknown")}</Callout>
  if (refuses) return <Callout tone="crit">{t("replicas.refuses", { count: least ?? after.min_in_sync })}</Callout>
  return after.in_sync.length === least && <Callout>{t("replicas.lastSpare", { count: least })}</Callout>
}

/** What another master has not; what nobody tells is said to be unknown, and only what was acknowledged can be lost. */
function Lacks({ plan }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { before, keeps_acknowledged: isWhole, lacking_bytes: lacking, has_until: until } = plan
  const had = lacking === 0 ? t("replicas.lacksNothing") : lacking !== null && t("replicas.lacks", { bytes: bytes(lacking) })
  if (isWhole)
    return (
      <p>
        {t("replicas.keepsAll")} {had} {lacking !== 0 && t(before?.master_id == null ? "replicas.othersCut" : "replicas.handedOver")}
      </p>
    )
  return (
    <p>
      {had || t("replicas.lacksUnknown")} {until !== null && lacking !== 0 && t("replicas.hasUntil", { time: format.when(until, true) })}
    </p>
  )
}

/** The most that is lost of what was acknowledged; never nothing where nothing was measured. */
function Loss({ bound }: { bound: ReplicaChange["loss"] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const words = bound ? t("replicas.mostLost", { bytes: bytes(bound.most_bytes), time: format.when(bound.as_of, true), replica: bound.replica_id, end: count(bound.log_end) }) : t("replicas.lossUnknown")
  return <Callout tone="crit">{words}</Callout>
}

function Pauses({ plan: { orderly_groups: groups, orderly_groups_total: total } }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  if (!groups) return <p>{t("replicas.pauseUnknown")}</p>
  const more = (total ?? groups.length) - groups.length
  return (
    <p>
      {groups.length === 0 ? t("replicas.pauseNone") : t("replicas.pause", { groups: groups.join(", ") })} {more > 0 && t("replicas.pauseMore", { count: more })}
    </p>
  )
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

const shown = (value: number | null) => (value === null ? "—" : String(value))
