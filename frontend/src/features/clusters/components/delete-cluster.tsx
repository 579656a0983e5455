import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { useDeleteCluster } from "../api/delete-cluster"

/** Takes a cluster out of the console; the cluster itself stays as it is. */
export function DeleteCluster({ name }: { name: string }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const remove = useDeleteCluster(name)
  return (
    <>
      <NeedsRight right="admin">
        <Button size="xs" variant="subtle" aria-label={t("clusters.removeNamed", { name })} onClick={() => setAsking(true)}>
          {t("clusters.remove")}
        </Button>
      </NeedsRight>
      <ConfirmDelete
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("clusters.removeNamed", { name })}
        name={name}
        action={t("clusters.removeNamed", { name })}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync()}
        done={t("clusters.removed", { name })}
        failed={t("clusters.notRemoved", { name })}
      >
        <p>{t("clusters.removeWords")}</p>
      </ConfirmDelete>
    </>
  )
}
