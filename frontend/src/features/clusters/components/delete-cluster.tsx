import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useDeleteCluster } from "../api/delete-cluster"

/** Takes a cluster out of the console; the cluster itself stays as it is. */
export function DeleteCluster({ name }: { name: string }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const remove = useDeleteCluster(name)
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => toastDone(t("clusters.removed", { name })),
      onError: (error) => toastFailed(t("clusters.notRemoved", { name }), error),
      onSettled: () => setAsking(false),
    })
  return (
    <>
      <NeedsRight right="admin">
        <Button size="xs" variant="subtle" aria-label={t("clusters.removeNamed", { name })} onClick={() => setAsking(true)}>
          {t("clusters.remove")}
        </Button>
      </NeedsRight>
      <ConfirmDanger isOpen={isAsking} onClose={() => setAsking(false)} title={t("clusters.removeNamed", { name })} name={name} action={t("clusters.removeNamed", { name })} isBusy={remove.isPending} onConfirm={confirm}>
        <p>{t("clusters.removeWords")}</p>
      </ConfirmDanger>
    </>
  )
}
