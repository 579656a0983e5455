import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { Callout, Definitions } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { toastFailed } from "@/components/toast/toast"
import type { OffsetPlan, OffsetSnapshot } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useUndoPreview, wayBack } from "../api/preview-undo"
import { useUndoOffsets } from "../api/undo-offsets"
import { movesOf, placeOf } from "../wish"
import { toastMoved } from "./moved"

interface UndoChangeProps {
  cluster: string
  group: string
  snapshot: OffsetSnapshot
  onClose: () => void
  onUndone: () => void
}

const MOST_SHOWN = 8

/** Says where the group goes and what it gets again or never before it moves back. */
export function UndoChange({ cluster, group, snapshot, onClose, onUndone }: UndoChangeProps) {
  const { t } = useTranslation()
  const preview = useUndoPreview(cluster, group, snapshot)
  const undo = useUndoOffsets(cluster, group)
  const plan = preview.data
  const run = () =>
    undo.mutate(snapshot.snapshot_id, {
      onSuccess: (moved) => {
        toastMoved(moved, true)
        onUndone()
        onClose()
      },
      onError: (error) => toastFailed(t("offsets.notUndone"), error),
    })
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t("offsets.undoTitle", { group, topic: snapshot.topic })}
      action={plan ? t("offsets.moveBack", { count: movesOf(plan).length }) : t("offsets.undo")}
      isBusy={undo.isPending || preview.isLoading}
      isBlocked={!plan}
      onConfirm={run}
    >
      {!wayBack(snapshot) && <p>{t("offsets.noWayBack")}</p>}
      {preview.error && <Failed what={t("offsets.previewFailed")} error={preview.error} retry={() => void preview.refetch()} />}
      {plan && <Effect plan={plan} />}
    </ConfirmDanger>
  )
}

function Effect({ plan }: { plan: OffsetPlan }) {
  const { t } = useTranslation()
  const { members } = plan
  const moving = plan.queues.filter(({ current, new: to }) => to !== null && to !== current)
  return (
    <>
      <Definitions
        items={[
          ...moving.slice(0, MOST_SHOWN).map((queue) => [placeOf(queue), `${queue.current === null ? "—" : count(queue.current)} → ${count(queue.new ?? 0)}`] as [string, string]),
          [t("offsets.willComeAgain"), count(plan.to_replay)],
          ...(plan.skipped > 0 ? [[t("offsets.skippedBack"), count(plan.skipped)] as [string, string]] : []),
          [t("groups.clients"), members === null ? t("states.unknown") : members === 0 ? t("offsets.noMembers") : t("offsets.members", { count: members })],
        ]}
      />
      {moving.length > MOST_SHOWN && <p className="micro">{t("offsets.moreQueues", { count: moving.length - MOST_SHOWN })}</p>}
      {plan.unknown.map(({ broker, reason }) => (
        <Callout key={broker}>{t("offsets.unknown", { broker, reason: reasonIn(t, reason) })}</Callout>
      ))}
      <p>{t("offsets.canBeUndone")}</p>
    </>
  )
}
