import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Callout } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { ReplicaChange } from "@/lib/api-types"
import { useFormat } from "@/hooks/use-format"
import { bytes } from "@/lib/format"
import { useChangeReplica } from "../api/change-replica"
import { usePreviewReplica } from "../api/preview-replica"
import type { ReplicaTarget } from "../replica-target"
import classes from "./replicas.module.css"

/** Says what the controller would do, before and after beside each other; only what loses messages asks for the name. */
export function ChangeReplica({ target, onClose }: { target: ReplicaTarget; onClose: () => void }) {
  const { t } = useTranslation()
  const preview = usePreviewReplica(target)
  const change = useChangeReplica(target)
  const words = { replica: target.replica, broker: target.broker }
  const plan = preview.data
  const confirm = () =>
    plan?.plan &&
    change.mutate(plan.plan, {
      onSuccess: () => {
        toastDone(t(`replicas.actions.${target.action}.done`, words))
        onClose()
      },
      onError: (error) => {
        toastFailed(t(`replicas.actions.${target.action}.failed`, words), error)
        void preview.refetch()
      },
    })
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t(`replicas.actions.${target.action}.title`, words)}
      {...(target.action === "accept-loss" && { name: target.broker })}
      action={t(`replicas.actions.${target.action}.do`, words)}
      isBusy={change.isPending || preview.isLoading}
      isBlocked={plan === undefined}
      onConfirm={confirm}
    >
      <p>{t(`replicas.actions.${target.action}.words`, words)}</p>
      {preview.error && <Failed what={t("replicas.noPreview")} error={preview.error} retry={() => void preview.refetch()} />}
      {plan && <Plan plan={plan} />}
    </ConfirmDanger>
  )
}

function Plan({ plan }: { plan: ReplicaChange }) {
  const { t } = useTranslation()
  const { before, after, refuses_sends: refuses, warnings } = plan
  const rows: [string, string, string][] = [
    [t("replicas.master"), idOf(before?.master_id), idOf(after.master_id)],
    [t("replicas.epoch"), before ? String(before.epoch) : "—", String(after.epoch)],
    [t("replicas.set"), before?.in_sync.join(", ") ?? "—", after.in_sync.join(", ")],
    [t("replicas.title"), before?.replicas.join(", ") ?? "—", after.replicas.join(", ")],
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
        <Callout key={warning}>{warning}</Callout>
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
        {lacking === null ? t("replicas.lacksUnknown") : t("replicas.lacks", { bytes: bytes(lacking) })} {until !== null && lacking !== 0 && t("replicas.hasUntil", { time: format.when(until, true) })}
      </p>
      <p>
        {!groups ? t("replicas.pauseUnknown") : groups.length === 0 ? t("replicas.pauseNone") : t("replicas.pause", { groups: groups.join(", ") })} {more > 0 && t("replicas.pauseMore", { count: more })}
      </p>
    </>
  )
}

const idOf = (id: number | null | undefined) => (id == null ? "—" : String(id))
