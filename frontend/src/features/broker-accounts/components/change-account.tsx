import { Checkbox } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Callout } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { BrokerAccount } from "@/lib/api-types"
import { refusedFields } from "@/lib/problem"
import { useUpdateAccount } from "../api/update-account"
import { draftOf, fieldsOf, markedOf, namesTwice, otherRights } from "../draft"
import { AccountAnswer, hasNews } from "./account-answer"
import { AccountFields } from "./account-fields"

interface ChangeAccountProps {
  cluster: string
  account: BrokerAccount
  onClose: () => void
}

/** Makes an account what the form says, on every broker; its secret stays unless a new one is asked for. */
export function ChangeAccount({ cluster, account: first, onClose }: ChangeAccountProps) {
  const { t } = useTranslation()
  // The account that the form began with: the list may be read again while somebody types.
  const [account] = useState(first)
  const { access_key: key, is_own: isOwn } = account
  const update = useUpdateAccount(cluster, key)
  const [draft, setDraft] = useState(() => draftOf(account))
  const [isRenewed, setRenewed] = useState(account.missing_on.length + account.secret_differs_on.length > 0)
  const change = { ...fieldsOf(draft), new_secret: isRenewed, etag: account.etag }
  const refused = refusedFields(update, change)
  const others = otherRights(account)
  const isSound = namesTwice(draft.topics).length + namesTwice(draft.groups).length === 0
  const submit = () =>
    update.mutate(change, {
      onSuccess: (answer) => {
        if (hasNews(answer)) return
        toastDone(t("brokerAccounts.changed", { key }))
        onClose()
      },
      onError: (error) => toastFailed(t("brokerAccounts.notChanged", { key }), error, markedOf(draft)),
    })
  return (
    <FormDrawer
      title={t("brokerAccounts.changeNamed", { key })}
      action={t("brokerAccounts.changeNamed", { key })}
      right="admin"
      isReady={isSound}
      isBusy={update.isPending}
      onSubmit={submit}
      onClose={onClose}
      answer={update.data && <AccountAnswer cluster={cluster} answer={update.data} sent={fieldsOf(draft)} onClose={onClose} />}
    >
      {isOwn && <Callout>{t("brokerAccounts.ownWords")}</Callout>}
      {others.length > 0 && <Callout>{t("brokerAccounts.willBeAlike", { brokers: others.join(t("list.comma")) })}</Callout>}
      {account.secret_differs_on.length > 0 && <Callout>{t("brokerAccounts.otherSecret", { brokers: account.secret_differs_on.join(t("list.comma")) })}</Callout>}
      {account.missing_on.length > 0 && <Callout>{t("brokerAccounts.needsSecret", { brokers: account.missing_on.join(t("list.comma")) })}</Callout>}
      <AccountFields draft={draft} isOwn={isOwn} refused={refused} onChange={(next) => setDraft({ ...draft, ...next })} />
      {!isOwn && <Checkbox label={t("brokerAccounts.newSecret")} description={t("brokerAccounts.newSecretWords")} checked={isRenewed} onChange={(event) => setRenewed(event.currentTarget.checked)} />}
    </FormDrawer>
  )
}
