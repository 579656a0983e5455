import { Tooltip } from "@mantine/core"
import { cloneElement, type ReactElement } from "react"
import { useTranslation } from "react-i18next"
import { type Right, useMay } from "@/hooks/use-rights"

interface NeedsRightProps {
  right: Right
  children: ReactElement<{ disabled?: boolean }>
}

/** A control that stays visible without the right to use it, and says which right is missing. */
export function NeedsRight({ right, children }: NeedsRightProps) {
  const { t } = useTranslation()
  if (useMay(right)) return children
  return (
    <Tooltip label={t("rights.missing", { right: t(`rights.${right}`) })}>
      <span>{cloneElement(children, { disabled: true })}</span>
    </Tooltip>
  )
}
