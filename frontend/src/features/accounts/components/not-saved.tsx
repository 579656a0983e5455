import { Button, Group } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import type { Covered, Role, RoleRule } from "@/lib/api-types"
import type { Change } from "../role-draft"
import classes from "./roles.module.css"

interface NotSavedProps {
  role: Role
  changes: readonly Change[]
  hitsOf: (rule: RoleRule) => Covered | undefined
  isBusy: boolean
  onSave: () => void
  onDiscard: () => void
}

/** Each change with what it means for those who have the role; one save for all. */
export function NotSaved({ role, changes, hitsOf, isBusy, onSave, onDiscard }: NotSavedProps) {
  const { t } = useTranslation()
  return (
    <Panel
      title={t("roles.unsaved")}
      note={t("roles.changeCount", { count: changes.length })}
      actions={
        <Group gap={6}>
          <Button size="xs" variant="subtle" onClick={onDiscard}>
            {t("roles.discard")}
          </Button>
          <Button size="xs" variant="filled" loading={isBusy} onClick={onSave}>
            {t("roles.save", { count: changes.length })}
          </Button>
        </Group>
      }
    >
      {changes.map(({ rule, verb, effect }) => (
        <div key={`${rule.kind} ${rule.pattern} ${verb}`} className={classes.line}>
          <span>
            <span className="mono">
              {t(`roles.kinds.${rule.kind}`)} {rule.pattern}
            </span>{" "}
            <b>{t(`rights.${verb}`)}</b>
          </span>
          <span className={classes.quiet}>
            {t(`roles.consequence.${effect}`, { count: role.member_count })}
            {t("list.comma")}
            {hitsOf(rule)?.count === undefined || hitsOf(rule)?.count === null ? t("roles.namesUnknown") : t("roles.names", { count: hitsOf(rule)?.count ?? 0 })}
          </span>
        </div>
      ))}
    </Panel>
  )
}
