import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import type { Group } from "@/lib/api-types"
import { count } from "@/lib/format"
import { usePauseGroup, useResumeGroup } from "../api/pause-group"
import { readersOf } from "./group-columns"

interface PauseGroupProps {
  cluster: string
  group: Group
  onClose: () => void
}

/** Says whom the pause hits before it stops the delivery. */
export function PauseGroup({ cluster, group, onClose }: PauseGroupProps) {
  const { t } = useTranslation()
  const pause = usePauseGroup(cluster, group.name)
  const words = { group: group.name }
  const confirm = () =>
    pause.mutate(undefined, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("groups.pausedDone", words), failed: t("groups.notPaused", words), again: () => pause.mutateAsync() })
        onClose()
      },
      onError: (error) => toastFailed(t("groups.notPaused", words), error),
    })
  return (
    <ConfirmDanger isOpen onClose={onClose} title={t("groups.pauseTitle", words)} action={t("groups.pauseNamed", words)} isBusy={pause.isPending} onConfirm={confirm}>
      <p>{whoStops(t, readersOf(group))}</p>
      <p>{group.leases === null ? t("groups.pauseHeldUnknown") : t("groups.pauseHeld", { count: group.leases, n: count(group.leases) })}</p>
      <p>{t("groups.pauseWords")}</p>
    </ConfirmDanger>
  )
}

function whoStops(t: TFunction, readers: number | null): string {
  if (readers === null) return t("groups.pauseReadersUnknown")
  return readers === 0 ? t("groups.pauseNoReaders") : t("groups.pauseReaders", { count: readers })
}

/** Starts the delivery again; nothing is lost by it, so nothing is asked. */
export function useResume(cluster: string, group: string): () => void {
  const { t } = useTranslation()
  const resume = useResumeGroup(cluster, group)
  const words = { group }
  return () =>
    resume.mutate(undefined, {
      onSuccess: (answer) => toastChange(answer, { done: t("groups.resumedDone", words), failed: t("groups.notResumed", words), again: () => resume.mutateAsync() }),
      onError: (error) => toastFailed(t("groups.notResumed", words), error),
    })
}
