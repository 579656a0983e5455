import { SegmentedControl, Textarea, TextInput } from "@mantine/core"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { PasswordField } from "@/components/forms/password-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useUrlState } from "@/hooks/use-url-state"
import type { AlertChannel, AlertChannelInput } from "@/lib/api-types"
import { refusedFields } from "@/lib/problem"
import { useCreateChannel } from "../api/create-channel"

/** A webhook or mail. What is secret is not shown as a command. */
export function ChannelForm() {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const create = useCreateChannel()
  const [draft, setDraft] = useState({ name: "", kind: "webhook" as AlertChannel["kind"], url: "", secret: "", recipients: "" })
  const recipients = useMemo(() => draft.recipients.split(/[\s,;]+/).filter(Boolean), [draft.recipients])
  const isHook = draft.kind === "webhook"
  const input: AlertChannelInput = { name: draft.name.trim(), kind: draft.kind, ...(isHook ? { url: draft.url.trim(), secret: draft.secret } : { recipients }) }
  const refused = refusedFields(create, input as Required<AlertChannelInput>)
  const close = () => change({ new: undefined })
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("alerts.channelCreated", { name: input.name }))
        close()
      },
      onError: (error) => toastFailed(t("alerts.channelNotCreated", { name: input.name }), error, ["name", "kind", "url", "secret", "recipients"]),
    })
  return (
    <FormDrawer title={t("alerts.newChannel")} action={t("alerts.createChannel")} right="manage" isReady={input.name !== "" && (isHook ? input.url !== "" : recipients.length > 0)} isBusy={create.isPending} onSubmit={submit} onClose={close}>
      <TextInput label={t("alerts.name")} value={draft.name} error={refused.name} onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })} />
      <Field label={t("alerts.kind")} error={refused.kind}>
        <SegmentedControl value={draft.kind} onChange={(kind) => setDraft({ ...draft, kind: kind as AlertChannel["kind"] })} data={(["webhook", "email"] as const).map((value) => ({ value, label: t(`alerts.kinds.${value}`) }))} />
      </Field>
      {isHook ? (
        <>
          <TextInput label="URL" description={t("alerts.urlWords")} value={draft.url} error={refused.url} onChange={(event) => setDraft({ ...draft, url: event.currentTarget.value })} />
          <PasswordField label={t("alerts.secret")} description={t("alerts.secretWords")} value={draft.secret} error={refused.secret} autoComplete="new-password" onChange={(event) => setDraft({ ...draft, secret: event.currentTarget.value })} />
        </>
      ) : (
        <Textarea label={t("alerts.recipients")} description={t("alerts.recipientsWords")} value={draft.recipients} error={refused.recipients} onChange={(event) => setDraft({ ...draft, recipients: event.currentTarget.value })} />
      )}
    </FormDrawer>
  )
}
