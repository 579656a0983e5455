import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { ReplicaChange } from "@/lib/api-types"
import { whyIn } from "@/lib/decisions"
import { bytes } from "@/lib/format"
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
  const { before, after, effective_min_in_sync: least, refuses_sends: refuses, warnings } = plan
  // Where a setting of the brokers wants more, the policy alone says nothing of what sends need.
  const isPolicyShown = after.min_in_sync !== least || (before !== null && before.min_in_sync !== leastNow)
  const rows: Row[] = [
    [t("replicas.master"), shown(before?.master_id), shown(after.master_id)],
    [t("replicas.epoch"), shown(before?.epoch), shown(after.epoch)],
    [t("replicas.set"), before?.in_sync.join(", ") ?? "—", after.in_sync.join(", ")],
    [t("replicas.title"), before?.replicas.join(", ") ?? "—", after.replicas.join(", ")],
    [t("replicas.least"), shown(leastNow), shown(least)],
    ...(isPolicyShown ? [[t("replicas.leastByPolicy"), shown(before?.min_in_sync), shown(after.min_in_sync)] satisfies Row] : []),
    [t("replicas.uncleanElected"), before ? yesOrNo(before.unclean_allowed, t) : "—", yesOrNo(after.unclean_allowed, t)],
  ]
  return (
    <>
      <table className={classes.plan}>
        <thead>
          <tr>
            <th />
            <th>{t("replicas.now")}</th>
            <th>{t("replicas.after")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, now, then]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{now}</td>
              <td data-other={now !== then || undefined}>{then}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {after.master_id !== null && after.master_id !== before?.master_id && <NewMaster plan={plan} />}
      {refuses && <Callout tone="crit">{t("replicas.refuses", { count: least ?? after.min_in_sync })}</Callout>}
      {refuses === false && after.in_sync.length === least && <Callout>{t("replicas.lastSpare", { count: least })}</Callout>}
      {refuses === null && <Callout>{t("replicas.refusesUnknown")}</Callout>}
      {warnings.map((warning) => (
        <Callout key={warning}>{sentence(whyIn(t, warning))}</Callout>
      ))}
    </>
  )
}

/** What another master costs; what nobody tells is said to be unknown. */
function NewMaster({ plan: { before, keeps_acknowledged: isWhole, lacking_bytes: lacking, has_until: until, orderly_groups: groups, orderly_groups_total: total } }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  const format = useFormat()
  const more = groups ? (total ?? groups.length) - groups.length : 0
  return (
    <>
      <p>
        {isWhole && t("replicas.keepsAll")} {lacking === null ? !isWhole && t("replicas.lacksUnknown") : lacking === 0 ? t("replicas.lacksNothing") : t("replicas.lacks", { bytes: bytes(lacking) })}{" "}
        {isWhole && lacking !== 0 && t(before?.master_id == null ? "replicas.othersCut" : "replicas.handedOver")}{" "}
        {!isWhole && lacking !== 0 && until !== null && t("replicas.hasUntil", { time: format.when(until, true) })}
      </p>
      <p>
        {!groups ? t("replicas.pauseUnknown") : groups.length === 0 ? t("replicas.pauseNone") : t("replicas.pause", { groups: groups.join(", ") })} {more > 0 && t("replicas.pauseMore", { count: more })}
      </p>
    </>
  )
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

const shown = (value: number | null | undefined) => (value == null ? "—" : String(value))

const yesOrNo = (is: boolean, t: TFunction) => t(is ? "replicas.yes" : "replicas.no")
