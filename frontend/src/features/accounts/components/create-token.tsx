import { Button, Checkbox, Group, Select, Stack, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { toastFailed } from "@/components/toast/toast"
import { useMe } from "@/hooks/use-rights"
import type { NewToken } from "@/lib/api-types"
import { useCreateToken } from "../api/tokens"
import { scopesOf } from "../scopes"

const VERBS = ["produce", "consume", "read", "manage", "jobs", "admin"] as const
const LIVES_DAYS = ["7", "30", "90", "365", "never"] as const
const FIRST_VERBS = ["produce", "consume", "read"] as const
const DAY_MS = 86_400_000

/** A token for a program: what it may do, on which topics, until when. Its text is shown once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateToken()
  return (
    <DockedDrawer label={t("access.createToken")} onClose={onClose}>
      <div style={{ padding: "0 20px 20px" }}>
        <h2 style={{ fontSize: 16, fontWeight: 600, marginBottom: 14 }}>{t("access.createToken")}</h2>
        {create.data ? <Shown token={create.data} onClose={onClose} /> : <TokenForm create={create} onClose={onClose} />}
      </div>
    </DockedDrawer>
  )
}

function TokenForm({ create, onClose }: { create: ReturnType<typeof useCreateToken>; onClose: () => void }) {
  const { t } = useTranslation()
  const rights = useMe()?.rights ?? []
  const [name, setName] = useState("")
  const [verbs, setVerbs] = useState<string[]>(FIRST_VERBS.filter((verb) => rights.includes(verb)))
  const [pattern, setPattern] = useState("")
  const [groups, setGroups] = useState("")
  const [days, setDays] = useState<string>("90")
  const scopes = scopesOf(verbs, pattern, groups)
  const isReady = name.trim() !== "" && scopes.length > 0
  const submit = () =>
    create.mutate(
      { name: name.trim(), scopes, expires_at: days === "never" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString() },
      { onError: (error) => toastFailed(t("access.notCreated", { name }), error) },
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) submit()
      }}
    >
      <Stack gap={14}>
        <TextInput label={t("access.name")} description={t("access.nameWords")} value={name} onChange={(event) => setName(event.currentTarget.value)} autoFocus />
        <Field label={t("access.may")}>
          <Checkbox.Group value={verbs} onChange={setVerbs}>
            <Stack gap={6} mt={4}>
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
          value={pattern}
          onChange={(event) => setPattern(event.currentTarget.value)}
        />
        {verbs.includes("consume") && (
          <TextInput
            label={t("access.groups")}
            description={t("access.groupsWords")}
            placeholder="billing*"
            value={groups}
            onChange={(event) => setGroups(event.currentTarget.value)}
          />
        )}
        <Select
          label={t("access.expires")}
          value={days}
          onChange={(next) => setDays(next ?? "90")}
          data={LIVES_DAYS.map((value) => ({ value, label: value === "never" ? t("access.never") : t("access.days", { count: Number(value) }) }))}
          maw={180}
        />
        <Group gap={8}>
          <Button type="submit" variant="filled" size="md" disabled={!isReady} loading={create.isPending}>
            {name.trim() === "" ? t("access.createToken") : t("access.createNamed", { name: name.trim() })}
          </Button>
          <Button variant="subtle" size="md" onClick={onClose}>
            {t("actions.cancel")}
          </Button>
        </Group>
      </Stack>
    </form>
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
