import { Button, TextInput } from "@mantine/core"
import { IconLock } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { nameOfRole } from "@/components/values/roles"
import type { Role } from "@/lib/api-types"
import { useCreateRole } from "../api/create-role"
import classes from "./roles.module.css"

interface RoleChooserProps {
  roles: readonly Role[]
  chosen: Role
  onChoose: (name: string) => void
}

export function RoleChooser({ roles, chosen, onChoose }: RoleChooserProps) {
  const { t } = useTranslation()
  return (
    <>
      <Panel title={t("roles.title")} note={roles.length}>
        {roles.map((role) => (
          <button key={role.name} type="button" className={classes.role} aria-current={role.name === chosen.name || undefined} onClick={() => onChoose(role.name)}>
            {nameOfRole(t, role.name)}
            {role.built_in && <IconLock size={13} stroke={1.6} aria-label={t("roles.builtIn")} />}
            <small>{t("roles.members", { count: role.member_count })}</small>
          </button>
        ))}
        <NewRole chosen={chosen} onMade={onChoose} />
      </Panel>
      <Panel title={t("roles.whoHas")} note={chosen.member_count}>
        {chosen.members.map((name) => (
          <div key={name} className={classes.line}>
            {name}
          </div>
        ))}
        {chosen.member_count === 0 && <PanelFoot>{t("roles.nobody")}</PanelFoot>}
      </Panel>
    </>
  )
}

/** A new role begins without rules, or as a copy of the chosen one: a built-in role is changed by copying it. */
function NewRole({ chosen, onMade }: { chosen: Role; onMade: (name: string) => void }) {
  const { t } = useTranslation()
  const [name, setName] = useState("")
  const create = useCreateRole()
  const isName = /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)
  const make = (rules: Role["rules"]) =>
    create.mutate(
      { name, description: "", rules },
      {
        onSuccess: () => {
          toastDone(t("roles.created", { name }))
          setName("")
          onMade(name)
        },
        onError: (error) => toastFailed(t("roles.notCreated", { name }), error),
      },
    )
  return (
    <form
      className={classes.ask}
      onSubmit={(event) => {
        event.preventDefault()
        make([])
      }}
    >
      <TextInput size="xs" aria-label={t("roles.newName")} placeholder={t("roles.newName")} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <Button size="xs" type="submit" disabled={!isName} title={isName ? "" : t("roles.nameFirst")} loading={create.isPending}>
        {t("roles.create")}
      </Button>
      <Button size="xs" variant="subtle" title={isName ? "" : t("roles.nameFirst")} disabled={!isName || create.isPending} onClick={() => make(chosen.rules)}>
        {t("roles.copy", { name: chosen.name })}
      </Button>
      {!isName && <small className="micro">{t("roles.nameFirst")}</small>}
    </form>
  )
}
