import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useChangeReplica } from "../api/change-replica"
import { usePreviewReplica } from "../api/preview-replica"
import type { ReplicaTarget } from "../replica-target"
import { ChangePlan } from "./change-plan"
import { PreviewFailed } from "./preview-failed"
import { RemovedProcess } from "./removed-process"

/** Says what the controller would do, before and after beside each other; only what loses messages asks for the name. */
export function ChangeReplica({ target, leastNow, onClose }: { target: ReplicaTarget; leastNow: number | null; onClose: () => void }) {
  const { t } = useTranslation()
  const preview = usePreviewReplica(target)
  const change = useChangeReplica(target)
  const words = { replica: target.replica, broker: target.broker }
  // After a refusal another plan holds: it is shown when somebody asks for it, never under a pressed button.
  const [isOutdated, setOutdated] = useState(false)
  const plan = isOutdated ? undefined : preview.data
  const again = () => void preview.refetch().then(() => setOutdated(false))
  const confirm = () =>
    plan?.plan &&
    change.mutate(plan.plan, {
      onSuccess: () => {
        toastDone(t(`replicas.actions.${target.action}.done`, words))
        onClose()
      },
      onError: (error) => {
        toastFailed(t(`replicas.actions.${target.action}.failed`, words), error)
        setOutdated(true)
      },
    })
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t(`replicas.actions.${target.action}.title`, words)}
      {...(target.action === "accept-loss" && { name: target.broker })}
      action={t(`replicas.actions.${target.action}.do`, words)}
      back={t("actions.cancel")}
      isBusy={change.isPending || preview.isLoading}
      isBlocked={plan === undefined}
      onConfirm={confirm}
    >
      <p>{t(`replicas.actions.${target.action}.words`, words)}</p>
      {isOutdated && (
        <Button onClick={again} loading={preview.isFetching}>
          {t("replicas.preview")}
        </Button>
      )}
      {preview.error && <PreviewFailed error={preview.error} retry={() => void preview.refetch()} />}
      {plan?.removed && <RemovedProcess removed={plan.removed} />}
      {plan && <ChangePlan plan={plan} leastNow={leastNow} />}
    </ConfirmDanger>
  )
}
