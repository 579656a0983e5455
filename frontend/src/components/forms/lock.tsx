import { Tooltip } from "@mantine/core"
import { cloneElement, type ReactElement, type ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { namesOfRoles } from "@/components/values/roles"
import { type Right, useMay, useMe } from "@/hooks/use-rights"
import classes from "./forms.module.css"

interface NeedsRightProps {
  right: Right
  children: ReactElement<{ disabled?: boolean; "aria-description"?: string }>
}

/** A control that stays visible without the right to use it, and says which right is missing. */
export function NeedsRight({ right, children }: NeedsRightProps) {
  const { t } = useTranslation()
  if (useMay(right)) return children
  const reason = t("rights.missing", { right: t(`rights.${right}`) })
  return (
    <Tooltip label={reason}>
      <span>{cloneElement(children, { disabled: true, "aria-description": reason })}</span>
    </Tooltip>
  )
}

interface FillableProps {
  right: Right
  children: ReactNode
}

/** Fields that one may read but not fill in without the right; the reason stands above them, before any work is done. */
export function Fillable({ right, children }: FillableProps) {
  const { t } = useTranslation()
  const may = useMay(right)
  const me = useMe()
  if (may) return children
  return (
    <div className={classes.locked}>
      <Callout>{t("rights.cannotFill", { right: t(`rights.${right}`), role: me ? namesOfRoles(t, me).join(t("list.comma")) : "" })}</Callout>
      <fieldset disabled>{children}</fieldset>
    </div>
  )
}
