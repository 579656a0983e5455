import { Button, Select, TextInput } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { nameOfRole } from "@/components/values/roles"
import type { Role, RoleList, RoleRule } from "@/lib/api-types"
import { useDeleteRole } from "../api/delete-role"
import { useUpdateRole } from "../api/update-role"
import { useCoverage } from "../api/get-coverage"
import { changesOf, type Kind, KINDS, VERBS } from "../role-draft"
import { NotSaved } from "./not-saved"
import { RuleRow } from "./rule-row"
import classes from "./roles.module.css"

interface RoleEditorProps {
  role: Role
  kinds: RoleList["kinds"]
}

/** The rules of a role; nothing is saved until all of it is. */
export function RoleEditor({ role, kinds }: RoleEditorProps) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<(RoleRule | null)[]>(role.rules)
  const update = useUpdateRole(role.name)
  const kept = draft.filter((rule) => rule !== null)
  const coverage = useCoverage(kept)
  const changes = changesOf(role.rules, draft)
  const hitsOf = (rule: RoleRule) => coverage.data?.find(({ kind, pattern }) => kind === rule.kind && pattern === rule.pattern)
  const put = (index: number, rule: RoleRule | null) => setDraft(draft.map((each, at) => (at === index ? rule : each)))
  // The saved role has an editor of its own, so this one does not live to see its answer.
  const save = () =>
    void update.mutateAsync(kept).then(
      () => toastDone(t("roles.saved", { name: role.name })),
      (error: unknown) => toastFailed(t("roles.notSaved", { name: role.name }), error),
    )
  return (
    <>
      <Panel title={nameOfRole(t, role.name)} note={t("roles.ruleCount", { count: kept.length })} actions={!role.built_in && <DeleteRole role={role} />}>
        <div className={classes.scroll} tabIndex={0} role="group" aria-label={t("roles.rules")}>
          <table className={classes.rules}>
            <thead>
              <tr>
                <th>{t("roles.kind")}</th>
                <th>{t("roles.pattern")}</th>
                <th>{t("roles.hits")}</th>
                {VERBS.map((verb) => (
                  <th key={verb}>{t(`rights.${verb}`)}</th>
                ))}
                {!role.built_in && (
                  <th>
                    <span className="sr-only">{t("table.unnamed")}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {draft.map((rule, index) =>
                rule === null ? null : (
                  <RuleRow
                    key={index}
                    rule={rule}
                    saved={role.rules[index]}
                    hits={hitsOf(rule)}
                    verbs={kinds.find(({ kind }) => kind === rule.kind)?.verbs ?? []}
                    onChange={role.built_in ? undefined : (changed) => put(index, changed)}
                  />
                ),
              )}
            </tbody>
          </table>
        </div>
        {role.built_in ? <PanelFoot>{t("roles.locked")}</PanelFoot> : <AddRule onAdd={(rule) => setDraft([...draft, rule])} />}
        <PanelFoot>{t("roles.order")}</PanelFoot>
      </Panel>
      {!role.built_in && (changes.length > 0 || kept.length !== role.rules.length) && (
        <NotSaved role={role} changes={changes} hitsOf={hitsOf} isBusy={update.isPending} onSave={save} onDiscard={() => setDraft(role.rules)} />
      )}
    </>
  )
}

function AddRule({ onAdd }: { onAdd: (rule: RoleRule) => void }) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<Kind>("topic")
  const [pattern, setPattern] = useState("")
  return (
    <form
      className={classes.line}
      onSubmit={(event) => {
        event.preventDefault()
        onAdd({ kind, pattern, allow: ["read"], refuse: [] })
        setPattern("")
      }}
    >
      <Select size="xs" w={120} aria-label={t("roles.kind")} data={KINDS.map((value) => ({ value, label: t(`roles.kinds.${value}`) }))} value={kind} onChange={(value) => setKind((value ?? "topic") as Kind)} />
      <TextInput size="xs" flex={1} aria-label={t("roles.pattern")} placeholder="orders*, payments" value={pattern} onChange={(event) => setPattern(event.currentTarget.value)} />
      <Button size="xs" type="submit" variant="subtle" leftSection={<IconPlus size={14} stroke={1.8} />} disabled={pattern.trim() === ""}>
        {t("roles.add")}
      </Button>
    </form>
  )
}

function DeleteRole({ role: { name, member_count } }: { role: Role }) {
  const { t } = useTranslation()
  const remove = useDeleteRole()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button size="xs" variant="subtle" disabled={member_count > 0} onClick={() => setAsking(true)}>
        {t("actions.delete")}
      </Button>
      <ConfirmDelete
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("roles.deleteTitle", { name })}
        name={name}
        action={t("roles.delete")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync(name)}
        done={t("roles.deleted", { name })}
        failed={t("roles.notDeleted", { name })}
      >
        <p>{t("roles.deleteWords")}</p>
      </ConfirmDelete>
    </>
  )
}
