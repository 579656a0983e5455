import { Button, Checkbox, Select, Stack, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { toastFailed } from "@/components/toast/toast"
import { useMe } from "@/hooks/use-rights"
import type { NewToken } from "@/lib/api-types"
import { useCreateToken } from "../api/create-token"
import { scopesOf } from "../scopes"
import { useScopeSentence } from "../use-scope-sentence"

const VERBS = ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs", "admin"] as const
const LIVES_DAYS = ["7", "30", "90", "365", "never"] as const
const FIRST_VERBS = ["produce", "consume", "read"] as const
const DAY_MS = 86_400_000

/** A token for a program: what it may do, on which topics, until when. Its text is shown once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateToken()
  const rights = useMe()?.rights ?? []
  const [draft, setDraft] = useState<TokenDraft>({ name: "", verbs: FIRST_VERBS.filter((verb) => rights.includes(verb)), pattern: "", groups: "", days: "90" })
  const name = draft.name.trim()
  const scopes = scopesOf(draft.verbs, draft.pattern, draft.groups)
  const sentence = useScopeSentence()
  const submit = () =>
    create.mutate(
      { name, scopes, expires_at: expiryIn(draft.days) },
      { onError: (error) => toastFailed(t("access.notCreated", { name }), error) },
    )
  return (
    <FormDrawer
      title={t("access.createToken")}
      action={name === "" ? t("access.createToken") : t("access.createNamed", { name })}
      isReady={name !== "" && scopes.length > 0}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
      answer={create.data && <Shown token={create.data} onClose={onClose} />}
    >
      <TokenFields draft={draft} rights={rights} onChange={(change) => setDraft({ ...draft, ...change })} />
      <Callout>
        <span role="status">{sentence(scopes)}</span>
      </Callout>
    </FormDrawer>
  )
}

const expiryIn = (days: string) => (days === "never" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString())

interface TokenDraft {
  name: string
  verbs: string[]
  pattern: string
  groups: string
  days: string
}

interface TokenFieldsProps {
  draft: TokenDraft
  rights: readonly string[]
  onChange: (change: Partial<TokenDraft>) => void
}

function TokenFields({ draft, rights, onChange }: TokenFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t("access.name")}
        description={t("access.nameWords")}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        autoFocus
      />
      <Field label={t("access.may")}>
        <Checkbox.Group value={draft.verbs} onChange={(verbs) => onChange({ verbs })}>
          <Stack gap={10} mt={4}>
            {VERBS.map((verb) => (
              <Checkbox
                key={verb}
                value={verb}
                label={t(`access.verbs.${verb}`)}
                disabled={!rights.includes(verb)}
                description={rights.includes(verb) ? undefined : t("rights.missing", { right: t(`rights.${verb}`) })}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Field>
      <TextInput
        label={t("access.pattern")}
        description={t("access.patternWords")}
        placeholder="orders-*"
        value={draft.pattern}
        onChange={(event) => onChange({ pattern: event.currentTarget.value })}
      />
      {draft.verbs.includes("consume") && (
        <TextInput
          label={t("access.groups")}
          description={t("access.groupsWords")}
          placeholder="billing*"
          value={draft.groups}
          onChange={(event) => onChange({ groups: event.currentTarget.value })}
        />
      )}
      <Select
        label={t("access.expires")}
        value={draft.days}
        onChange={(days) => onChange({ days: days ?? "90" })}
        data={LIVES_DAYS.map((value) => ({ value, label: value === "never" ? t("access.never") : t("access.days", { count: Number(value) }) }))}
        maw={180}
      />
    </>
  )
}

function Shown({ token, onClose }: { token: NewToken; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Stack gap={12}>
      <Callout>
        <b>{t("access.onceTitle")}</b> {t("access.onceWords")}
      </Callout>
      <CodeBlock wrap text={token.token} label={t("access.tokenText")} />
      <CodeBlock language="curl" text={`export GANTRY_TOKEN=${token.token}`} />
      <Button onClick={onClose}>{t("access.kept")}</Button>
    </Stack>
  )
}
