import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Failed } from "@/components/states/failed"
import { toastDone, toastFailed, toastUnknown } from "@/components/toast/toast"
import type { BulkGroup, GroupAction } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useChangeGroups } from "../api/change-groups"
import { useGroupsPreview } from "../api/preview-groups"
import classes from "./groups.module.css"

interface BulkChangeProps {
  cluster: string
  action: GroupAction
  groups: string[]
  onClose: () => void
  /** With the groups that the change did not reach. */
  onLeft: (names: readonly string[]) => void
}

/** Says for each group what is hit, then changes them all, and says of which it did not. */
export function BulkChange({ cluster, action, groups, onClose, onLeft }: BulkChangeProps) {
  const { t } = useTranslation()
  const preview = useGroupsPreview(cluster, action, groups)
  const change = useChangeGroups(cluster, action)
  const n = preview.data?.filter(({ outcome }) => outcome === "planned").length ?? 0
  const named = t(`groupBulk.${action}Named`, { count: n, n: count(n) })
  const confirm = () =>
    change.mutate(groups, {
      onSuccess: ({ items }) => {
        const left = items.filter(({ outcome }) => outcome !== "done")
        tellOutcome(t, items.length - left.length, left)
        onLeft(left.map(({ name }) => name))
        onClose()
      },
      onError: (error) => {
        toastFailed(t("groupBulk.notDone"), error)
        void preview.refetch()
      },
    })
  return (
    <ConfirmDanger isOpen onClose={onClose} title={named} action={named} {...(action === "delete" && { name: String(n) })} isBusy={change.isPending || preview.isLoading} isBlocked={n === 0} onConfirm={confirm}>
      <p>{t(`groupBulk.${action}Words`)}</p>
      {preview.error && <Failed what={t("groupBulk.failed")} error={preview.error} retry={() => void preview.refetch()} />}
      <ul className={classes.hit}>
        {preview.data?.map((group) => (
          <li key={group.name}>
            <b>{group.name}</b> <small>{hitWords(t, action, group)}</small>
          </li>
        ))}
      </ul>
    </ConfirmDanger>
  )
}

function hitWords(t: TFunction, action: GroupAction, group: BulkGroup): string {
  if (group.outcome === "refused") return t("groupBulk.refused", { reason: reasonIn(t, group.reason ?? "") })
  const written = (value: number | null) => (value === null ? t("groupBulk.hitUnknown") : count(value))
  const { clients, lease_consumers: callers } = group
  const readers = clients === null || callers === null ? null : clients + callers
  const hit = t("groupBulk.hit", { readers: written(readers), leases: written(group.leases), lag: written(group.lag) })
  if (action === "pause" && group.consume_enabled === false) return `${hit} · ${t("groupBulk.isPaused")}`
  return action === "resume" && group.consume_enabled ? `${hit} · ${t("groupBulk.isRunning")}` : hit
}

function tellOutcome(t: TFunction, done: number, left: BulkGroup[]): void {
  if (left.length === 0) {
    toastDone(t("groupBulk.doneAll", { count: done, n: count(done) }))
    return
  }
  const reasons = left.map(({ name: group, reason }) => t("groupBulk.outcome", { group, reason: reason === null ? t("groupBulk.partly") : reasonIn(t, reason) }))
  toastUnknown(t("groupBulk.notAll", { n: count(done), of: count(done + left.length) }), reasons.join(" "))
}
