import { Tooltip } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import * as format from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import classes from "./values.module.css"

interface UnknownProps {
  /** Why it is not known. */
  reason?: string | null | undefined
  width?: number
}

/** Not known: hatch and a dash, the reason in words on hover. Never 0, never blank. */
export function Unknown({ reason, width = 30 }: UnknownProps) {
  const { t } = useTranslation()
  const words = reason ? reasonIn(t, reason) : t("states.unknown")
  return (
    <Tooltip label={words}>
      <span className={classes.unknown} tabIndex={0} role="img" aria-label={`${t("states.unknown")}: ${words}`}>
        <span className={classes.swatch} style={{ width }} />—
      </span>
    </Tooltip>
  )
}

/** It does not apply here. */
export const NotApplicable = () => <span className={classes.zero}>—</span>

interface NumProps {
  value: number | null | undefined
  reason?: string | null | undefined
  write?: (value: number) => string
  unit?: string
  width?: number
}

/** A number as it is written in tables: exact, zero in grey, unknown as unknown. */
export function Num({ value, reason, write = format.count, unit, width }: NumProps) {
  if (value === null || value === undefined) return <Unknown reason={reason} {...(width && { width })} />
  return (
    <span className={value === 0 ? classes.zero : undefined}>
      {write(value)}
      {unit && <Unit>{unit}</Unit>}
    </span>
  )
}

export const Unit = ({ children }: { children: ReactNode }) => <span className={classes.unit}>{children}</span>
