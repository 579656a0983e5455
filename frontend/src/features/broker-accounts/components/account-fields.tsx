import { Switch, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import type { AccountDraft } from "../draft"
import { NamedRights, RightSelect } from "./named-rights"

interface AccountFieldsProps {
  draft: AccountDraft
  /** Of Gantry's own account only the addresses may be changed. */
  isOwn?: boolean
  refused: Readonly<Record<string, string>>
  onChange: (change: Partial<AccountDraft>) => void
}

/** What an account may do, and from where it needs no signature. */
export function AccountFields({ draft, isOwn = false, refused, onChange }: AccountFieldsProps) {
  const { t } = useTranslation()
  const isHeld = draft.admin && (draft.topics.length > 0 || draft.groups.length > 0)
  return (
    <>
      <Switch
        label={t("brokerAccounts.admin")}
        description={t(isHeld ? "brokerAccounts.adminHeld" : "brokerAccounts.adminWords")}
        checked={draft.admin}
        disabled={isOwn}
        onChange={(event) => onChange({ admin: event.currentTarget.checked })}
      />
      <NamedRights kind="topic" rights={draft.topics} isLocked={isOwn} refused={refused} onChange={(topics) => onChange({ topics })} />
      <Field label={t("brokerAccounts.otherTopics")}>
        <RightSelect label={t("brokerAccounts.otherTopics")} value={draft.defaultTopic} isLocked={isOwn} onChange={(defaultTopic) => onChange({ defaultTopic })} />
      </Field>
      <NamedRights kind="group" rights={draft.groups} isLocked={isOwn} refused={refused} onChange={(groups) => onChange({ groups })} />
      <Field label={t("brokerAccounts.otherGroups")}>
        <RightSelect label={t("brokerAccounts.otherGroups")} value={draft.defaultGroup} isLocked={isOwn} onChange={(defaultGroup) => onChange({ defaultGroup })} />
      </Field>
      <TextInput
        label={t("brokerAccounts.whiteAddress")}
        description={t("brokerAccounts.whiteAddressWords")}
        placeholder="10.20.0.{7,9}"
        value={draft.whiteAddress}
        error={refused.white_address}
        onChange={(event) => onChange({ whiteAddress: event.currentTarget.value })}
      />
    </>
  )
}
