import { useTranslation } from "react-i18next"
import { QueryPanel } from "@/components/states/query-panel"
import { useUrlState } from "@/hooks/use-url-state"
import type { RoleList } from "@/lib/api-types"
import { useRoles } from "../api/get-roles"
import { AccessQuestionBox } from "./access-question-box"
import { RoleChooser } from "./role-chooser"
import { RoleEditor } from "./role-editor"
import classes from "./roles.module.css"

/** Roles, the rules of one, and the question who may do what. */
export function RolesPanel() {
  const { t } = useTranslation()
  const roles = useRoles(true)
  if (!roles.data) return <QueryPanel query={roles} title={t("roles.title")} what={t("roles.failed")}>{() => null}</QueryPanel>
  return <Loaded list={roles.data} />
}

function Loaded({ list }: { list: RoleList }) {
  const [state, change] = useUrlState()
  const role = list.items.find(({ name }) => name === state.role) ?? list.items[0]
  if (!role) return null
  return (
    <div className={classes.columns}>
      <div className={classes.column}>
        <RoleChooser roles={list.items} chosen={role} onChoose={(name) => change({ role: name })} />
      </div>
      <div className={classes.column}>
        <RoleEditor key={`${role.name} ${role.etag}`} role={role} kinds={list.kinds} />
      </div>
      <div className={classes.column}>
        <AccessQuestionBox kinds={list.kinds} />
      </div>
    </div>
  )
}
