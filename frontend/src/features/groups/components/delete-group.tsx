import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { useDeleteGroup, useForgetGroup } from "../api/delete-group"
import { GroupImpact } from "./group-impact"

interface DeleteGroupProps {
  cluster: string
  group: string
  onClose: () => void
}

export function DeleteGroup({ cluster, group, onClose }: DeleteGroupProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const remove = useDeleteGroup(cluster, group)
  const forget = useForgetGroup(cluster, group)
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("groups.deleted", { group }), failed: t("groups.notDeleted", { group }), again: () => remove.mutateAsync() })
        void navigate({ to: "/groups" }).then(forget)
      },
      onError: (error) => toastFailed(t("groups.notDeleted", { group }), error),
    })
  return (
    <ConfirmDanger
      isOpen
      onClose={onClose}
      title={t("groups.deleteTitle", { group })}
      name={group}
      action={t("groups.deleteNamed", { group })}
      isBusy={remove.isPending}
      onConfirm={confirm}
    >
      <GroupImpact cluster={cluster} group={group} />
      <p>{t("groups.deleteWords")}</p>
    </ConfirmDanger>
  )
}
