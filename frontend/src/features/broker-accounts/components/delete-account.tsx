import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { toastChange } from "@/components/toast/change"
import { toastFailed } from "@/components/toast/toast"
import { useDeleteAccount } from "../api/delete-account"

interface DeleteAccountProps {
  cluster: string
  accessKey: string
  onClose: () => void
}

export function DeleteAccount({ cluster, accessKey: key, onClose }: DeleteAccountProps) {
  const { t } = useTranslation()
  const remove = useDeleteAccount(cluster)
  const failed = t("brokerAccounts.notDeleted", { key })
  const confirm = () =>
    remove.mutate(key, {
      onSuccess: (answer) => {
        toastChange(answer, { done: t("brokerAccounts.deleted", { key }), failed, again: () => remove.mutateAsync(key) })
        onClose()
      },
      onError: (error) => toastFailed(failed, error),
    })
  return (
    <ConfirmDanger isOpen onClose={onClose} title={t("brokerAccounts.deleteNamed", { key })} name={key} action={t("brokerAccounts.deleteNamed", { key })} isBusy={remove.isPending} onConfirm={confirm}>
      <p>{t("brokerAccounts.deleteWords")}</p>
    </ConfirmDanger>
  )
}
