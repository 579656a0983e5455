import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { PasswordField } from "@/components/forms/password-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useNameRule } from "@/hooks/use-naming"
import { useUrlState } from "@/hooks/use-url-state"
import type { TransactionHook } from "@/lib/api-types"
import { refusedFields } from "@/lib/problem"
import { useCreateHook } from "../api/create-hook"
import { useHooks } from "../api/get-hooks"
import { useUpdateHook } from "../api/update-hook"

const FIELDS = ["group", "url", "secret"]

/** The form that the address asks for: a new hook, or another URL or secret of one. */
export function HookForm({ cluster, edited }: { cluster: string; edited: string | undefined }) {
  const hook = useHooks(cluster).data?.find(({ id }) => id === edited)
  if (edited === undefined) return <NewHook cluster={cluster} />
  return hook ? <ChangedHook cluster={cluster} hook={hook} /> : null
}

function NewHook({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const create = useCreateHook(cluster)
  const [draft, setDraft] = useState({ group: "", url: "", secret: "" })
  const input = { group: draft.group.trim(), url: draft.url.trim(), secret: draft.secret }
  const refused = refusedFields(create, input)
  const rule = useNameRule("group")
  const isNamed = rule.fits(input.group)
  const close = () => change({ new: undefined })
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("transactions.hooks.added", { group: input.group }))
        close()
      },
      onError: (error) => toastFailed(t("transactions.hooks.notAdded", { group: input.group }), error, FIELDS),
    })
  return (
    <FormDrawer title={t("transactions.hooks.add")} action={t("transactions.hooks.add")} right="manage" isReady={isNamed && input.url !== ""} isBusy={create.isPending} onSubmit={submit} onClose={close}>
      <TextInput label={t("transactions.group")} value={draft.group} error={refused.group ?? (input.group !== "" && !isNamed ? t("forms.nameWrong", { max: rule.maxLength }) : null)} onChange={(event) => setDraft({ ...draft, group: event.currentTarget.value })} />
      <TextInput label="URL" description={t("transactions.hooks.urlWords")} value={draft.url} error={refused.url} onChange={(event) => setDraft({ ...draft, url: event.currentTarget.value })} />
      <PasswordField label={t("transactions.hooks.secret")} description={t("transactions.hooks.secretWords")} value={draft.secret} error={refused.secret} autoComplete="new-password" onChange={(event) => setDraft({ ...draft, secret: event.currentTarget.value })} />
    </FormDrawer>
  )
}

/** What is left empty stays as it is: neither the path nor the secret is shown again. */
function ChangedHook({ cluster, hook: { id, group, target } }: { cluster: string; hook: TransactionHook }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const update = useUpdateHook(cluster, id)
  const [draft, setDraft] = useState({ url: "", secret: "" })
  const url = draft.url.trim()
  const input = { ...(url && { url }), ...(draft.secret && { secret: draft.secret }) }
  const refused = refusedFields(update, { url, secret: draft.secret })
  const close = () => change({ edit: undefined })
  const submit = () =>
    update.mutate(input, {
      onSuccess: () => {
        toastDone(t("transactions.hooks.changed", { group }))
        close()
      },
      onError: (error) => toastFailed(t("transactions.hooks.notChanged", { group }), error, FIELDS),
    })
  return (
    <FormDrawer title={t("transactions.hooks.changeTitle", { group })} action={t("transactions.hooks.change")} right="manage" isReady={Object.keys(input).length > 0} isBusy={update.isPending} onSubmit={submit} onClose={close}>
      <TextInput label="URL" description={t("transactions.hooks.urlStays")} placeholder={target} value={draft.url} error={refused.url} onChange={(event) => setDraft({ ...draft, url: event.currentTarget.value })} />
      <PasswordField label={t("transactions.hooks.secret")} description={t("transactions.hooks.secretStays")} value={draft.secret} error={refused.secret} autoComplete="new-password" onChange={(event) => setDraft({ ...draft, secret: event.currentTarget.value })} />
    </FormDrawer>
  )
}
