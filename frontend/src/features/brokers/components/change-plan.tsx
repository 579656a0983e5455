import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { ReplicaChange } from "@/lib/api-types"
import { whyIn } from "@/lib/decisions"
import { bytes } from "@/lib/format"
import classes from "./replicas.module.css"

/** The state before and after beside each other, and what the change costs. */
export function ChangePlan({ plan }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  const { before, after, refuses_sends: refuses, warnings } = plan
  const rows: [string, string, string][] = [
    [t("replicas.master"), idOf(before?.master_id), idOf(after.master_id)],
    [t("replicas.epoch"), before ? String(before.epoch) : "—", String(after.epoch)],
    [t("replicas.set"), before?.in_sync.join(", ") ?? "—", after.in_sync.join(", ")],
    [t("replicas.title"), before?.replicas.join(", ") ?? "—", after.replicas.join(", ")],
    [t("replicas.least"), before ? String(before.min_in_sync) : "—", String(after.min_in_sync)],
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
      {refuses && <Callout tone="crit">{t("replicas.refuses", { count: plan.effective_min_in_sync ?? after.min_in_sync })}</Callout>}
      {refuses === null && <Callout>{t("replicas.refusesUnknown")}</Callout>}
      {warnings.map((warning) => (
        <Callout key={warning}>{sentence(whyIn(t, warning))}</Callout>
      ))}
    </>
  )
}

/** What another master costs; what nobody tells is said to be unknown. */
function NewMaster({ plan: { lacking_bytes: lacking, has_until: until, orderly_groups: groups, orderly_groups_total: total } }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  const format = useFormat()
  const more = groups ? (total ?? groups.length) - groups.length : 0
  return (
    <>
      <p>
        {lacking === null ? t("replicas.lacksUnknown") : lacking === 0 ? t("replicas.lacksNothing") : t("replicas.lacks", { bytes: bytes(lacking) })} {until !== null && lacking !== 0 && t("replicas.hasUntil", { time: format.when(until, true) })}
      </p>
      <p>
        {!groups ? t("replicas.pauseUnknown") : groups.length === 0 ? t("replicas.pauseNone") : t("replicas.pause", { groups: groups.join(", ") })} {more > 0 && t("replicas.pauseMore", { count: more })}
      </p>
    </>
  )
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

const idOf = (id: number | null | undefined) => (id == null ? "—" : String(id))

const yesOrNo = (is: boolean, t: TFunction) => t(is ? "replicas.yes" : "replicas.no")
