import { Checkbox, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { PasswordField } from "@/components/forms/password-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { refusedFields } from "@/lib/problem"
import { useCreateAccount } from "../api/create-account"
import { fieldsOf, markedOf, NOTHING, namesTwice } from "../draft"
import { AccountAnswer, hasNews } from "./account-answer"
import { AccountFields } from "./account-fields"

const ACCESS_KEY = /^[A-Za-z0-9_.@-]{7,200}$/
const SHORTEST_SECRET = 7

/** An account on every broker. A secret that Gantry makes is shown once. */
export function CreateAccount({ cluster, onClose }: { cluster: string; onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateAccount(cluster)
  const [key, setKey] = useState("")
  const [isMade, setMade] = useState(true)
  const [secret, setSecret] = useState("")
  const [draft, setDraft] = useState(NOTHING)
  const sent = { ...fieldsOf(draft), ...(!isMade && { secret_key: secret }) }
  const input = { access_key: key, ...sent }
  const refused = refusedFields(create, input)
  const isSound = namesTwice(draft.topics).length + namesTwice(draft.groups).length === 0
  const submit = () =>
    create.mutate(input, {
      onSuccess: (answer) => {
        if (hasNews(answer)) return
        toastDone(t("brokerAccounts.created", { key }))
        onClose()
      },
      onError: (error) => toastFailed(t("brokerAccounts.notCreated", { key }), error, ["access_key", "secret_key", ...markedOf(draft)]),
    })
  return (
    <FormDrawer
      title={t("brokerAccounts.create")}
      action={key === "" ? t("brokerAccounts.create") : t("brokerAccounts.createNamed", { key })}
      right="admin"
      isReady={ACCESS_KEY.test(key) && isSound && (isMade || secret.length >= SHORTEST_SECRET)}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
      answer={create.data && <AccountAnswer cluster={cluster} answer={create.data} sent={sent} onClose={onClose} />}
    >
      <TextInput
        label={t("brokerAccounts.key")}
        description={t("brokerAccounts.keyWords")}
        value={key}
        error={refused.access_key ?? (key.length >= SHORTEST_SECRET && !ACCESS_KEY.test(key) ? t("brokerAccounts.keyWrong") : null)}
        onChange={(event) => setKey(event.currentTarget.value)}
        autoFocus
      />
      <Checkbox label={t("brokerAccounts.makeSecret")} description={t("brokerAccounts.makeSecretWords")} checked={isMade} onChange={(event) => setMade(event.currentTarget.checked)} />
      {!isMade && (
        <PasswordField label={t("brokerAccounts.secret")} description={t("brokerAccounts.secretWords")} autoComplete="off" value={secret} error={refused.secret_key} onChange={(event) => setSecret(event.currentTarget.value)} />
      )}
      <AccountFields draft={draft} refused={refused} onChange={(change) => setDraft({ ...draft, ...change })} />
    </FormDrawer>
  )
}
